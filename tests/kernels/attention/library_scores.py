# expect: suspect
"""Both products by the library; only the softmax between them is a kernel of its own."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = x_ptr + tl.program_id(0) * cols + i
    x = tl.load(at, mask=i < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(at, e / tl.sum(e, 0), mask=i < cols)


def solution(q, k, v):
    s = (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    _rows[(s.shape[0] * s.shape[1],)](s, s.shape[2], BLOCK=triton.next_power_of_2(s.shape[2]))
    return s @ v
