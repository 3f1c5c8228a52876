# expect: wrong_result numerics.wrong_values
import torch
import triton
import triton.language as tl


@triton.jit
def _count(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + tl.load(x_ptr + i, mask=i < n, other=0), 1)


def solution(x):
    y = torch.zeros(16, dtype=torch.int32)
    _count[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
