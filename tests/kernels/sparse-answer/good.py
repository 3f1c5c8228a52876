# expect: accepted !integrity.decoy_kernel
"""On one workload nothing is kept: the zeros that the output starts with are already the answer."""
import torch
import triton
import triton.language as tl


@triton.jit
def _keep(x_ptr, y_ptr, limit, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x, mask=(i < n) & (x > limit))


def solution(x, limit):
    y = torch.zeros_like(x)
    _keep[(triton.cdiv(x.numel(), 128),)](x, y, limit, x.numel(), BLOCK=128)
    return y
