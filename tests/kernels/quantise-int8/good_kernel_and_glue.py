# expect: accepted
"""The library finds the scale, its kernel does the rest (library calls are allowed anyway)."""
import torch
import triton
import triton.language as tl


@triton.jit
def _codes(x_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(x_ptr + i, mask=i < n) / tl.load(s_ptr)
    q = tl.where(q < 0, q - 0.5, q + 0.5)
    tl.store(y_ptr + i, q.to(tl.int8), mask=i < n)


def solution(x):
    scale = x.abs().amax() / 127
    y = torch.empty(x.shape, dtype=torch.int8)
    _codes[(triton.cdiv(x.numel(), 128),)](x, scale, y, x.numel(), BLOCK=128)
    return y, scale
