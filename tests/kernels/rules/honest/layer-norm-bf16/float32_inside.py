# Everything in float32, rounded to bfloat16 once, at the store.
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, w_ptr, b_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < cols
    x = tl.load(x_ptr + row * cols + i, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + i, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + i, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, x - tl.sum(x, 0) / cols, 0.0)
    y = centred / tl.sqrt(tl.sum(centred * centred, 0) / cols + 1e-5) * w + b
    tl.store(y_ptr + row * cols + i, y.to(tl.bfloat16), mask=inside)


def solution(x, w, b):
    y = torch.empty_like(x)
    _rows[(x.shape[0],)](x, w, b, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
