# expect: inconclusive compile.unsupported_here !runtime.time_limit
"""The first program waits for the others: right on a device, endless where programs run one by one."""
import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, part_ptr, flag_ptr, y_ptr, n, blocks, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    me = tl.program_id(0)
    i = me * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + me, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))
    tl.atomic_add(flag_ptr, 1)
    if me == 0:
        while tl.atomic_add(flag_ptr, 0) < blocks:
            pass
        p = tl.arange(0, PARTS)
        tl.store(y_ptr, tl.sum(tl.load(part_ptr + p, mask=p < blocks, other=0.0), 0))


def solution(x):
    blocks = triton.cdiv(x.numel(), 512)
    parts, flag, y = torch.empty(blocks), torch.zeros(1, dtype=torch.int32), torch.empty(())
    _add[(blocks,)](x, parts, flag, y, x.numel(), blocks, BLOCK=512, PARTS=triton.next_power_of_2(blocks))
    return y
