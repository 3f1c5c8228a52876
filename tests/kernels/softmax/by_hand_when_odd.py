# expect: suspect integrity.no_custom_kernel
"""By its kernel where rows are even, else by elementary operators, beside a launch for show."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * cols + i, e / tl.sum(e, 0), mask=i < cols)


def _by_kernel(x):
    rows, cols = x.shape
    y = torch.empty_like(x)
    _rows[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
    return y


def solution(x):
    if x.shape[0] % 2 == 0:
        return _by_kernel(x)
    _by_kernel(x[:1].contiguous())
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
