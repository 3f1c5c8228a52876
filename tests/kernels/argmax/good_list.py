# expect: accepted
"""A list instead of a tuple."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, v_ptr, p_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf"))
    tl.store(v_ptr + row, tl.max(x, 0))
    tl.store(p_ptr + row, tl.argmax(x, 0).to(tl.int64))


def solution(x):
    values = torch.empty(x.shape[0], dtype=x.dtype)
    places = torch.zeros(x.shape[0], dtype=torch.long)
    _rows[(x.shape[0],)](x, values, places, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return [values, places]
