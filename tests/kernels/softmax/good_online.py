# expect: accepted
"""Two passes in blocks with a running maximum: another order of operations than the reference."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top, total = -float("inf"), 0.0
    for start in range(0, cols, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf"))
        new = tl.maximum(top, tl.max(x, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
        top = new
    for start in range(0, cols, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + i, mask=i < cols)
        tl.store(y_ptr + row * cols + i, tl.exp(x - top) / total, mask=i < cols)


def solution(x):
    y = torch.empty(x.shape, device="cuda", dtype=x.dtype)
    _rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=32)
    return y
