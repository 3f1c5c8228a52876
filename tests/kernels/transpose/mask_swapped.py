# expect: wrong_result runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def _t(x_ptr, y_ptr, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    c = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    inside = (r < cols) & (c < rows)
    tl.store(y_ptr + c * rows + r, tl.load(x_ptr + r * cols + c, mask=inside), mask=inside)


def solution(x):
    rows, cols = x.shape
    y = torch.empty((cols, rows), dtype=x.dtype)
    _t[(triton.cdiv(rows, 16), triton.cdiv(cols, 16))](x, y, rows, cols, B=16)
    return y
