# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i).to(tl.float32)
    tl.store(y_ptr + row * cols + i, (x * tl.rsqrt(tl.sum(x * x, 0) / cols + 1e-6)).to(tl.bfloat16))


def solution(x, w):
    y = torch.empty_like(x)
    _rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=128)
    return y
