# expect: wrong_result inconclusive
"""`tl.dot` on float32 means tf32 unless told otherwise."""
import torch
import triton
import triton.language as tl


@triton.jit
def _tile(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
    bt = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(at, bt), mask=(m[:, None] < M) & (n[None, :] < N))


def solution(a, b):
    c = torch.empty(a.shape[0], b.shape[1])
    _tile[(1,)](a, b, c, a.shape[0], b.shape[1], a.shape[1], BM=32, BN=32, BK=64)
    return c
