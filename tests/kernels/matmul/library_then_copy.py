# expect: suspect
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(a, b):
    c = a @ b
    out = torch.empty_like(c)
    _copy[(triton.cdiv(c.numel(), 128),)](c, out, c.numel(), BLOCK=128)
    return out
