# expect: suspect
"""The library does the work; the kernel copies its result into the output."""
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    done = torch.softmax(x, -1)
    y = torch.empty_like(x)
    _copy[(triton.cdiv(x.numel(), 64),)](done, y, x.numel(), BLOCK=64)
    return y
