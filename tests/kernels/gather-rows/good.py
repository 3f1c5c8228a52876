# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(t_ptr, i_ptr, o_ptr, COLS: tl.constexpr):
    n, c = tl.program_id(0), tl.arange(0, COLS)
    tl.store(o_ptr + n * COLS + c, tl.load(t_ptr + tl.load(i_ptr + n) * COLS + c))


def solution(table, index):
    o = torch.empty(index.shape[0], table.shape[1])
    _rows[(index.shape[0],)](table, index, o, COLS=table.shape[1])
    return o
