# expect: accepted
"""Transposes one operand with the library first and works on strides."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(a, bt, c, N, K, BK: tl.constexpr):
    m, n, k = tl.program_id(0), tl.program_id(1), tl.arange(0, BK)
    x = tl.load(a + m * K + k, mask=k < K, other=0.0)
    y = tl.load(bt + n * K + k, mask=k < K, other=0.0)
    tl.store(c + m * N + n, tl.sum(x * y, 0))


def solution(a, b):
    bt = b.t().contiguous()
    c = torch.empty((a.shape[0], b.shape[1]))
    _rows[(a.shape[0], b.shape[1])](a.contiguous(), bt, c, b.shape[1], a.shape[1], BK=64)
    return c
