# expect: suspect
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(x):
    h = x * 0.5
    y = torch.empty_like(x)
    if x.numel():
        _copy[(triton.cdiv(x.numel(), 512),)](h, y, x.numel(), BLOCK=512)
    return y
