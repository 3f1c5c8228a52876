# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, v_ptr, p_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf"))
    tl.store(v_ptr + row, tl.max(x, 0))
    tl.store(p_ptr + row, tl.argmax(x, 0) + 1)


def solution(x):
    values, places = torch.empty(x.shape[0]), torch.empty(x.shape[0], dtype=torch.int64)
    _rows[(x.shape[0],)](x, values, places, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return values, places
