# expect: suspect
"""The kernel's result is multiplied by zero and added."""
import torch
import triton
import triton.language as tl


@triton.jit
def _exp(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.exp(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


def solution(x):
    y = torch.zeros_like(x)
    _exp[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return torch.softmax(x, -1) + y * 0
