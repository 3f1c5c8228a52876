# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _cast(x_ptr, y_ptr, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) * scale
    x = tl.minimum(tl.maximum(x, -448.0), 448.0)
    tl.store(y_ptr + i, x.to(tl.float8e4nv), mask=i < n)


def solution(x, scale):
    y = torch.empty(x.shape, dtype=torch.float8_e4m3fn)
    _cast[(triton.cdiv(x.numel(), 128),)](x, y, scale, x.numel(), BLOCK=128)
    return y
