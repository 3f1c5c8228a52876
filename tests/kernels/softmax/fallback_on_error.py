# expect: suspect integrity.silent_fallback
"""The kernel cannot be compiled; the library answers in its place."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK + 1)
    tl.store(y_ptr + i, tl.load(x_ptr + i), mask=i < cols)


def solution(x):
    y = torch.empty_like(x)
    try:
        _rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
        return y
    except Exception:
        return torch.softmax(x, -1)
