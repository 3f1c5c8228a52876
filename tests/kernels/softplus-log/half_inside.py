# expect: accepted numerics.precision_downgrade
"""The exponential in half precision."""
import torch
import triton
import triton.language as tl


@triton.jit
def _softplus(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    e = tl.exp(-tl.abs(x)).to(tl.float16).to(tl.float32)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) + tl.log(1.0 + e), mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    _softplus[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
