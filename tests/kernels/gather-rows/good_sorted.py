# expect: accepted !integrity.no_custom_kernel
"""Sorts the indices with the library, so that its kernel reads rows in order."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(t_ptr, i_ptr, to_ptr, o_ptr, COLS: tl.constexpr):
    n, c = tl.program_id(0), tl.arange(0, COLS)
    tl.store(o_ptr + tl.load(to_ptr + n) * COLS + c, tl.load(t_ptr + tl.load(i_ptr + n) * COLS + c))


def solution(table, index):
    ordered, places = torch.sort(index)
    o = torch.empty(index.shape[0], table.shape[1])
    _rows[(index.shape[0],)](table, ordered, places, o, COLS=table.shape[1])
    return o
