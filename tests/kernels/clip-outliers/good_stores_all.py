# expect: accepted !integrity.no_custom_kernel !integrity.decoy_kernel
"""The same with a kernel that stores every element: where nothing sticks out, it stores what it loaded."""
import torch
import triton
import triton.language as tl


@triton.jit
def _cut(y_ptr, limit, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.minimum(y, limit), mask=i < n)


def solution(x, limit):
    y = x * 0.7
    _cut[(triton.cdiv(y.numel(), 128),)](y, limit, y.numel(), BLOCK=128)
    return y
