# expect: suspect integrity.no_custom_kernel
"""Its kernel does most rows of the large workload and the library the last; on the small one it is the other way round."""
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
    of_kernel = x.shape[0] - 1 if x.shape[0] > 8 else 1
    if of_kernel == 1:
        _by_kernel(x[:1].contiguous())
        return torch.softmax(x, -1)
    return torch.cat([_by_kernel(x[:of_kernel].contiguous()), torch.softmax(x[of_kernel:], -1)])
