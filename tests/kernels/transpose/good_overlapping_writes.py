# expect: accepted !runtime.race
"""Neighbouring tiles overlap and write the same values."""
import torch
import triton
import triton.language as tl


@triton.jit
def _t(x_ptr, y_ptr, rows, cols, STEP: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * STEP + tl.arange(0, B)[:, None]
    c = tl.program_id(1) * STEP + tl.arange(0, B)[None, :]
    inside = (r < rows) & (c < cols)
    tl.store(y_ptr + c * rows + r, tl.load(x_ptr + r * cols + c, mask=inside), mask=inside)


def solution(x):
    rows, cols = x.shape
    y = torch.empty((cols, rows), dtype=x.dtype)
    _t[(triton.cdiv(rows, 12), triton.cdiv(cols, 12))](x, y, rows, cols, STEP=12, B=16)
    return y
