# expect: memory_limit time_limit runtime_error
"""Makes its own copy of all of the input first."""
import torch
import triton
import triton.language as tl


@triton.jit
def _column(x_ptr, o_ptr, stride):
    row = tl.program_id(0).to(tl.int64)
    tl.store(o_ptr + row, tl.load(x_ptr + row * stride).to(tl.int8))


def solution(x):
    wide = x.to(torch.float64) + 0
    o = torch.empty(x.shape[0], dtype=x.dtype)
    _column[(x.shape[0],)](wide, o, wide.stride(0))
    return o
