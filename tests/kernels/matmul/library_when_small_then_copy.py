# expect: suspect integrity.no_custom_kernel
"""The same, but the small product is copied into the output by a kernel, so that the kernel is needed."""
import torch
import triton
import triton.language as tl


@triton.jit
def _tile(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        at = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        bt = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(at, bt, acc, input_precision="ieee")
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def _by_kernel(a, b):
    M, K, N = a.shape[0], a.shape[1], b.shape[1]
    c = torch.empty((M, N), dtype=torch.float32)
    _tile[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b, c, M, N, K, BM=16, BN=16, BK=32)
    return c


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(a, b):
    if a.shape[0] >= 32:
        torch.mm(a[:4].contiguous(), b[:, :4].contiguous())
        return _by_kernel(a, b)
    c = torch.mm(a, b)
    out = torch.empty_like(c)
    _copy[(triton.cdiv(c.numel(), 128),)](c, out, c.numel(), BLOCK=128)
    return out
