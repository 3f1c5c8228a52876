# expect: accepted !integrity.no_custom_kernel
"""Asks the library whether the inputs are finite and the rows add up, and answers from its kernel either way."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * cols + i, e / tl.sum(e, 0), mask=i < cols)


def solution(x):
    rows, cols = x.shape
    x = x.contiguous().to(torch.float32)
    assert torch.isfinite(x).all().item()
    y = torch.empty_like(x)
    _rows[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
    assert abs(y.sum().item() - rows) < 1e-2 * rows
    return y.view(rows, cols)
