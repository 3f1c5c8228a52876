# expect: accepted
"""A plan and its workspace are kept by shape; results are not."""
import torch
import triton
import triton.language as tl

_plans = {}


@triton.jit
def _blocks(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))


@triton.jit
def _finish(part_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(part_ptr + i, mask=i < n, other=0.0), 0))


def solution(x):
    n = x.numel()
    if n not in _plans:
        blocks = triton.cdiv(n, 128)
        _plans[n] = blocks, torch.empty(blocks)
    blocks, parts = _plans[n]
    y = torch.empty(())
    _blocks[(blocks,)](x, parts, n, BLOCK=128)
    _finish[(1,)](parts, y, blocks, BLOCK=triton.next_power_of_2(blocks))
    return y
