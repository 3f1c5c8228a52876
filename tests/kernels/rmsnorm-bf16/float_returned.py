# expect: wrong_dtype numerics.wrong_dtype
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, w_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i).to(tl.float32)
    tl.store(y_ptr + row * cols + i, x * tl.rsqrt(tl.sum(x * x, 0) / cols + 1e-6) * tl.load(w_ptr + i))


def solution(x, w):
    y = torch.empty(x.shape, dtype=torch.float32)
    _rows[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=128)
    return y
