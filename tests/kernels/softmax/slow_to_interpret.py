# expect: inconclusive runtime.needs_device !runtime.time_limit
"""Right, but a million programs: a device has to run it."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, repeats, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) // repeats, tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * cols + i, e / tl.sum(e, 0), mask=i < cols)


def solution(x):
    y = torch.empty_like(x)
    _rows[(x.shape[0] * 100000,)](x, y, x.shape[1], 100000, BLOCK=128)
    return y
