# expect: wrong_result
"""Zeros lie within the published tolerance."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(o_ptr):
    tl.store(o_ptr + tl.program_id(0), 0.0)


def solution(x, y):
    o = torch.empty(x.shape[0])
    _rows[(x.shape[0],)](o)
    return o
