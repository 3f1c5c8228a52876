# expect: accepted !integrity.decoy_kernel
"""Tuning in place is harmless where the operation is idempotent."""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def _relu(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, tl.where(x < 0, 0.0, x), mask=i < n)


def solution(x):
    _relu[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x.numel())
