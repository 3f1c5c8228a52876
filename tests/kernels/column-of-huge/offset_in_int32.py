# expect: runtime_error wrong_result runtime.index_overflow
import torch
import triton
import triton.language as tl


@triton.jit
def _column(x_ptr, o_ptr, rows, stride, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    tl.store(o_ptr + row, tl.load(x_ptr + row * stride, mask=row < rows), mask=row < rows)


def solution(x):
    o = torch.empty(x.shape[0], dtype=x.dtype)
    _column[(1,)](x, o, x.shape[0], x.stride(0), BLOCK=8)
    return o
