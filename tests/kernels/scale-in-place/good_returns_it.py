# expect: accepted !integrity.output_aliased !integrity.input_mutated
import triton
import triton.language as tl


@triton.jit
def _scale(x_ptr, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * s, mask=i < n)


def solution(x, s):
    _scale[(triton.cdiv(x.numel(), 128),)](x, s, x.numel(), BLOCK=128)
    return x
