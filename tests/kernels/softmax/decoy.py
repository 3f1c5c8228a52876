# expect: suspect integrity.decoy_kernel
import torch
import triton
import triton.language as tl


@triton.jit
def _touch(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.exp(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


def solution(x):
    scratch = torch.empty_like(x)
    _touch[(triton.cdiv(x.numel(), 64),)](x, scratch, x.numel(), BLOCK=64)
    return x.softmax(dim=-1)
