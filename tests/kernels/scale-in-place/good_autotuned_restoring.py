# expect: accepted
"""Tuned in place, with the tuner told to restore the tensor between trials."""
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"], restore_value=["x_ptr"]
)
@triton.jit
def _scale(x_ptr, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * s, mask=i < n)


def solution(x, s):
    _scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, s, x.numel())
    return x
