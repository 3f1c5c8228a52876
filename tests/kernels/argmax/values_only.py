# expect: wrong_shape numerics.wrong_shape
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, v_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(v_ptr + row, tl.max(tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf")), 0))


def solution(x):
    values = torch.empty(x.shape[0])
    _rows[(x.shape[0],)](x, values, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return values
