# expect: accepted !numerics.precision_downgrade
"""The textbook formula without log1p: small results lose digits to the 1, though everything is fp32."""
import torch
import triton
import triton.language as tl


@triton.jit
def _softplus(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x))), mask=i < n)


def solution(x):
    y = torch.empty_like(x)
    _softplus[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
