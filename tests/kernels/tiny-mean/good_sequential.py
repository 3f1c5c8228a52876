# expect: accepted task.tolerance_vacuous
"""Adds one by one: the least accurate honest order."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, o_ptr, cols):
    row = tl.program_id(0)
    total = 0.0
    for i in range(cols):
        total += tl.load(x_ptr + row * cols + i)
    tl.store(o_ptr + row, total / cols)


def solution(x):
    o = torch.empty(x.shape[0])
    _rows[(x.shape[0],)](x, o, x.shape[1])
    return o
