# expect: suspect
"""The library computes everything; the kernel computes the first element again."""
import torch
import triton
import triton.language as tl


@triton.jit
def _corner(a_ptr, b_ptr, c_ptr, K, N, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + k, mask=k < K, other=0.0)
    b = tl.load(b_ptr + k * N, mask=k < K, other=0.0)
    tl.store(c_ptr, tl.sum(a * b, 0))


def solution(a, b):
    c = torch.matmul(a, b)
    c[0, 0] = 0.0
    _corner[(1,)](a, b, c, a.shape[1], b.shape[1], BLOCK=64)
    return c
