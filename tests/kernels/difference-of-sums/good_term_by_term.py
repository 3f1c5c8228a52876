# expect: accepted
"""Better than the reference: subtracts before it sums."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, o_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    d = tl.load(x_ptr + row * cols + i, mask=i < cols, other=0.0) - tl.load(y_ptr + row * cols + i, mask=i < cols, other=0.0)
    tl.store(o_ptr + row, tl.sum(d, 0))


def solution(x, y):
    o = torch.empty(x.shape[0])
    _rows[(x.shape[0],)](x, y, o, x.shape[1], BLOCK=512)
    return o
