# expect: wrong_dtype numerics.wrong_dtype
import torch
import triton
import triton.language as tl


@triton.jit
def _cast(x_ptr, y_ptr, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, (tl.load(x_ptr + i, mask=i < n) * scale).to(tl.float8e5), mask=i < n)


def solution(x, scale):
    y = torch.empty(x.shape, dtype=torch.float8_e5m2)
    _cast[(triton.cdiv(x.numel(), 128),)](x, y, scale, x.numel(), BLOCK=128)
    return y
