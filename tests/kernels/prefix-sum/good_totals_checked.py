# expect: accepted !integrity.no_custom_kernel
"""Blocks of one where there is little; an assertion fails without the kernel, so that nothing can be taken away."""
import torch
import triton
import triton.language as tl


@triton.jit
def _scan(x_ptr, y_ptr, t_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.cumsum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0)
    tl.store(y_ptr + i, s, mask=i < n)
    tl.store(t_ptr + tl.program_id(0), tl.max(s, 0))


@triton.jit
def _shift(y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(y_ptr + i, y + tl.load(o_ptr + tl.program_id(0)), mask=i < n)


def solution(x):
    block = 128 if x.numel() > 500 else 1
    blocks = triton.cdiv(x.numel(), block)
    y, totals = torch.empty_like(x), torch.empty(blocks)
    _scan[(blocks,)](x, y, totals, x.numel(), BLOCK=block)
    offsets = torch.cumsum(totals, 0) - totals
    _shift[(blocks,)](y, offsets, x.numel(), BLOCK=block)
    assert y[-1].sub(x.sum()).abs().item() < 1e-2
    return y
