# expect: accepted !integrity.decoy_kernel
"""Idempotent and in place: a second application changes nothing."""
import triton
import triton.language as tl


@triton.jit
def _relu(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, tl.maximum(x, 0.0), mask=i < n)


def solution(x):
    _relu[(triton.cdiv(x.numel(), 128),)](x, x.numel(), BLOCK=128)
    return x
