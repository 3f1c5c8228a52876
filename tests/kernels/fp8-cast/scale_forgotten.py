# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _cast(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n).to(tl.float8e4nv), mask=i < n)


def solution(x, scale):
    y = torch.empty(x.shape, dtype=torch.float8_e4m3fn)
    _cast[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
