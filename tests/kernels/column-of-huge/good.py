# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _column(x_ptr, o_ptr, stride):
    row = tl.program_id(0).to(tl.int64)
    tl.store(o_ptr + row, tl.load(x_ptr + row * stride))


def solution(x):
    o = torch.empty(x.shape[0], dtype=x.dtype)
    _column[(x.shape[0],)](x, o, x.stride(0))
    return o
