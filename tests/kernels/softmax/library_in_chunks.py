# expect: suspect integrity.no_custom_kernel
"""The library computes a row at a time, so that no call sees much of the problem; the kernel copies."""
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    for row, out in zip(x, y):
        _copy[(triton.cdiv(row.numel(), 64),)](torch.softmax(row, -1), out, row.numel(), BLOCK=64)
    return y
