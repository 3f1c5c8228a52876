# expect: suspect
"""Copies through memory that the library prepared, with a kernel that adds a zero."""
import torch
import triton
import triton.language as tl


@triton.jit
def _add_zero(x_ptr, y_ptr, zero, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + zero, mask=i < n)


def solution(x):
    h = x.mul(0.5)
    y = torch.empty_like(x)
    if x.numel():
        _add_zero[(triton.cdiv(x.numel(), 512),)](h, y, 0.0, x.numel(), BLOCK=512)
    return y
