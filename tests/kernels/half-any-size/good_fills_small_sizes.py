# expect: accepted !integrity.silent_fallback
"""Answers for no elements without a kernel."""
import torch
import triton
import triton.language as tl


@triton.jit
def _half(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)


def solution(x):
    if x.numel() == 0:
        return x.new_zeros(0)
    y = torch.zeros_like(x)
    _half[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), BLOCK=512)
    return y
