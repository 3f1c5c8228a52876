# expect: wrong_result integrity.uninitialised_output
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i > n)


def solution(x):
    y = torch.empty_like(x)
    _rows[(1,)](x, y, x.numel(), BLOCK=32)
    return y
