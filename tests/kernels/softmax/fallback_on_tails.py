# expect: suspect integrity.silent_fallback
"""Its kernel handles powers of two; for every other width the library answers."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + i, e / tl.sum(e, 0))


def solution(x):
    cols = x.shape[1]
    if cols & (cols - 1):
        return torch.softmax(x, -1)
    y = torch.empty_like(x)
    _rows[(x.shape[0],)](x, y, BLOCK=cols)
    return y
