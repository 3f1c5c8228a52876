# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _log(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.log(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    _log[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
