# expect: accepted !integrity.no_custom_kernel !integrity.decoy_kernel
"""The library scales and its kernel cuts: where nothing sticks out, there is nothing for the kernel to do."""
import torch
import triton
import triton.language as tl


@triton.jit
def _cut(y_ptr, limit, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.minimum(y, limit), mask=(i < n) & (y > limit))


def solution(x, limit):
    y = x * 0.7
    _cut[(triton.cdiv(y.numel(), 128),)](y, limit, y.numel(), BLOCK=128)
    return y
