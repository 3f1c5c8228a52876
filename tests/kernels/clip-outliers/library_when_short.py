# expect: suspect integrity.no_custom_kernel
"""The library cuts too wherever it is asked for little, and the kernel finds nothing."""
import torch
import triton
import triton.language as tl


@triton.jit
def _both(x_ptr, y_ptr, limit, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.minimum(0.7 * tl.load(x_ptr + i, mask=i < n), limit), mask=i < n)


def solution(x, limit):
    y = torch.empty_like(x)
    _both[(triton.cdiv(y.numel(), 128),)](x, y, limit, y.numel(), BLOCK=128)
    return y if x.numel() > 500 else (x * 0.7).clamp(max=limit)
