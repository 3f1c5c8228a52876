# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _diff(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.load(x_ptr + i + 1, mask=i < n) - a, mask=i < n)


def solution(x):
    y = torch.empty(x.shape[0] - 1, dtype=x.dtype)
    _diff[(triton.cdiv(y.numel(), 64),)](x, y, y.numel(), BLOCK=64)
    return y
