# exp(x) as exp2(x * log2(e)), the instruction that devices have.
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp2((x - tl.max(x, 0)) * 1.4426950408889634)
    tl.store(y_ptr + row * cols + i, e / tl.sum(e, 0), mask=i < cols)


def solution(x):
    y = torch.empty_like(x)
    _rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
