# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, w_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + i, mask=i < cols, other=0.0).to(tl.float32)
    r = 1 / tl.sqrt(tl.sum(x * x, 0) / cols + 1e-6)
    tl.store(y_ptr + row * cols + i, (x * r * w).to(tl.bfloat16), mask=i < cols)


def solution(x, w):
    y = torch.empty_like(x)
    _rows[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
