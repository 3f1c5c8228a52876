# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _scan(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.cumsum(x, 0) - x, mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    _scan[(1,)](x, y, x.numel(), BLOCK=triton.next_power_of_2(x.numel()))
    return y
