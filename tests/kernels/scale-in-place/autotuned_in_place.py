# expect: wrong_result integrity.first_call_differs
"""Tuned in place without restoring: each trial scales again."""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def _scale(x_ptr, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * s, mask=i < n)


def solution(x, s):
    _scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, s, x.numel())
    return x
