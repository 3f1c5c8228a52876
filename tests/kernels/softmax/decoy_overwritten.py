# expect: suspect integrity.decoy_kernel
"""The kernel writes into the output, and the library then writes over it."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    _rows[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    torch.softmax(x, -1, out=y)
    return y
