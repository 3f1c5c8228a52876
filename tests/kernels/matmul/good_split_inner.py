# expect: accepted !integrity.no_custom_kernel
"""Its kernel leaves slices of the inner dimension apart, and the library adds them up: at some sizes as many as fill the output."""
import torch
import triton
import triton.language as tl


@triton.jit
def _slices(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.program_id(2) * BK + tl.arange(0, BK)
    at = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
    bt = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
    out = c + tl.program_id(2) * M * N + m[:, None] * N + n[None, :]
    tl.store(out, tl.dot(at, bt, input_precision="ieee"), mask=(m[:, None] < M) & (n[None, :] < N))


def solution(a, b):
    M, K, N = a.shape[0], a.shape[1], b.shape[1]
    slices = triton.cdiv(K, 32)
    parts = torch.zeros((slices, M, N), dtype=torch.float32)
    _slices[(triton.cdiv(M, 16), triton.cdiv(N, 16), slices)](a, b, parts, M, N, K, BM=16, BN=16, BK=32)
    return parts.sum(0)
