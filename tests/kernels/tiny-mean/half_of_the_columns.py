# expect: wrong_result
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, o_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(o_ptr + row, tl.sum(tl.load(x_ptr + row * cols + i), 0) / BLOCK)


def solution(x):
    o = torch.empty(x.shape[0])
    _rows[(x.shape[0],)](x, o, x.shape[1], BLOCK=128)
    return o
