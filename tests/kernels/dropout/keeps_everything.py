# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _drop(x_ptr, y_ptr, n, p, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) / (1 - p), mask=i < n)


def solution(x, p, seed):
    y = torch.empty_like(x)
    _drop[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), p, BLOCK=1024)
    return y
