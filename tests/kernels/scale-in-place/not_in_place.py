# expect: accepted wrong_result
"""Returns a new tensor where the contract says in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def _scale(x_ptr, y_ptr, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * s, mask=i < n)


def solution(x, s):
    y = torch.empty_like(x)
    _scale[(triton.cdiv(x.numel(), 128),)](x, y, s, x.numel(), BLOCK=128)
    return y
