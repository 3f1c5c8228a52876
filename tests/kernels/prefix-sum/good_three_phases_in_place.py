# expect: accepted !runtime.race
"""Scans blocks in place in its output, then carries block totals forward in one program."""
import torch
import triton
import triton.language as tl


@triton.jit
def _blocks(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.cumsum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0), mask=i < n)


@triton.jit
def _carry(y_ptr, n, BLOCK: tl.constexpr):
    carry = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        y = tl.load(y_ptr + i, mask=i < n, other=0.0) + carry
        tl.store(y_ptr + i, y, mask=i < n)
        carry = tl.max(tl.where(i < n, y, 0.0), 0)


def solution(x):
    y = torch.empty_like(x)
    _blocks[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    _carry[(1,)](y, x.numel(), BLOCK=128)
    return y
