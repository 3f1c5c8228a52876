# expect: accepted !integrity.later_call_differs !integrity.first_call_differs
"""A new mask on every call: allowed, as only the distribution is checked."""
import torch
import triton
import triton.language as tl


@triton.jit
def _drop(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(tl.rand(seed, i) >= p, x / (1 - p), 0.0), mask=i < n)


def solution(x, p, seed):
    y = torch.empty_like(x)
    mine = int(torch.randint(0, 2**31 - 1, (1,)).item())
    _drop[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), p, mine, BLOCK=1024)
    return y
