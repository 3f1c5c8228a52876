# expect: accepted !integrity.no_custom_kernel
"""Blocks of two where the vector is short, so that partial sums are half as many as its elements."""
import torch
import triton
import triton.language as tl


@triton.jit
def _blocks(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))


def solution(x):
    block = 128 if x.numel() > 2000 else 2
    blocks = triton.cdiv(x.numel(), block)
    parts = torch.zeros(blocks)
    _blocks[(blocks,)](x, parts, x.numel(), BLOCK=block)
    return parts.sum()
