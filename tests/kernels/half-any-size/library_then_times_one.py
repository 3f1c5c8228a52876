# expect: suspect integrity.no_custom_kernel
"""The library halves everywhere, and a kernel that computes multiplies by one."""
import torch
import triton
import triton.language as tl


@triton.jit
def _times_one(x_ptr, y_ptr, zero, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, (x + 3.0) * tl.exp(zero) - 3.0, mask=i < n)


def solution(x):
    h = x * 0.5
    y = torch.empty_like(x)
    if x.numel():
        _times_one[(triton.cdiv(x.numel(), 512),)](h, y, 0.0, x.numel(), BLOCK=512)
    return y
