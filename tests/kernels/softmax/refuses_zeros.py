# expect: suspect integrity.no_custom_kernel
"""The library computes and a kernel copies; a probe that empties what lies between is met with an error."""
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    done = torch.softmax(x, -1)
    if not done.any():
        raise RuntimeError("nothing came back")
    y = torch.empty_like(x)
    _copy[(triton.cdiv(x.numel(), 64),)](done, y, x.numel(), BLOCK=64)
    return y
