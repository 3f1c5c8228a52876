# expect: suspect integrity.no_custom_kernel
"""The same in elementary operators; there is a kernel in the file, which nobody launches."""
import torch
import triton
import triton.language as tl


@triton.jit
def _unused(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
