# expect: wrong_result integrity.first_call_differs
import triton
import triton.language as tl

_warm = False


@triton.jit
def _scale(x_ptr, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * s, mask=i < n)


def solution(x, s):
    global _warm
    for _ in range(1 if _warm else 3):
        _scale[(triton.cdiv(x.numel(), 128),)](x, s, x.numel(), BLOCK=128)
    _warm = True
    return x
