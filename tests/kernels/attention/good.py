# expect: accepted
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(q, k, v, o, n, scale, N: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(0) * n * D
    i, d = tl.arange(0, N), tl.arange(0, D)
    inside = i[:, None] < n
    at = base + i[:, None] * D + d[None, :]
    qt, kt, vt = (tl.load(p + at, mask=inside, other=0.0) for p in (q, k, v))
    s = tl.dot(qt, tl.trans(kt), input_precision="ieee") * scale
    s = tl.where(i[None, :] < n, s, -float("inf"))
    e = tl.exp(s - tl.max(s, 1)[:, None])
    p = e / tl.sum(e, 1)[:, None]
    tl.store(o + at, tl.dot(p, vt, input_precision="ieee"), mask=inside)


def solution(q, k, v):
    o = torch.empty_like(q)
    heads, n, d = q.shape
    _attend[(heads,)](q, k, v, o, n, 1 / math.sqrt(d), N=32, D=d)
    return o
