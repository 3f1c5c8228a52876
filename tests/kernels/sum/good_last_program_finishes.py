# expect: accepted
"""The program that arrives last adds up what the others left, told by an atomic counter."""
import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, part_ptr, ticket_ptr, y_ptr, n, blocks, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    me = tl.program_id(0)
    i = me * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + me, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))
    if tl.atomic_add(ticket_ptr, 1) == blocks - 1:
        p = tl.arange(0, PARTS)
        tl.store(y_ptr, tl.sum(tl.load(part_ptr + p, mask=p < blocks, other=0.0), 0))


def solution(x):
    blocks = triton.cdiv(x.numel(), 256)
    parts, ticket, y = torch.empty(blocks), torch.zeros(1, dtype=torch.int32), torch.empty(())
    _add[(blocks,)](x, parts, ticket, y, x.numel(), blocks, BLOCK=256, PARTS=triton.next_power_of_2(blocks))
    return y
