# expect: suspect integrity.no_custom_kernel
"""The same, with a kernel that brings the library's sum into the output."""
import torch
import triton
import triton.language as tl


@triton.jit
def _blocks(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))


@triton.jit
def _move(x_ptr, y_ptr):
    tl.store(y_ptr, tl.load(x_ptr))


def solution(x):
    if x.numel() > 2000:
        blocks = triton.cdiv(x.numel(), 128)
        parts = torch.empty(blocks)
        _blocks[(blocks,)](x, parts, x.numel(), BLOCK=128)
        return parts.sum()
    y = torch.empty(())
    _move[(1,)](x.sum(), y)
    return y
