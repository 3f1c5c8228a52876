# expect: accepted
"""Its kernel sums blocks; the few partial sums are added by the library."""
import torch
import triton
import triton.language as tl


@triton.jit
def _blocks(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))


def solution(x):
    blocks = triton.cdiv(x.numel(), 128)
    parts = torch.empty(blocks)
    _blocks[(blocks,)](x, parts, x.numel(), BLOCK=128)
    return parts.sum()
