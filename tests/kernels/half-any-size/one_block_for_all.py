# expect: runtime_error
"""The block is the next power of two, which 0 has none of."""
import torch
import triton
import triton.language as tl


@triton.jit
def _half(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    _half[(1,)](x, y, x.numel(), BLOCK=triton.next_power_of_2(x.numel()))
    return y
