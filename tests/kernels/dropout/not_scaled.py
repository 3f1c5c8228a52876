# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _drop(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(tl.rand(seed, i) >= p, x, 0.0), mask=i < n)


def solution(x, p, seed):
    y = torch.empty_like(x)
    _drop[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), p, seed, BLOCK=1024)
    return y
