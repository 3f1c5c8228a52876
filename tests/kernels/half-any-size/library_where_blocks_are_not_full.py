# expect: suspect integrity.no_custom_kernel
"""By its kernel where blocks are full, else by the library, beside a launch for show."""
import torch
import triton
import triton.language as tl


@triton.jit
def _half(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, 0.5 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    if x.numel():
        _half[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
    return y if x.numel() % 512 == 0 else x * 0.5
