# expect: suspect integrity.no_custom_kernel
"""Mixes in its kernel where there is much; where there is little the library mixes, beside a launch for show."""
import torch
import triton
import triton.language as tl


@triton.jit
def _mix(x_ptr, p_ptr, w_ptr, y_ptr, D, E, BLOCK: tl.constexpr):
    row, f = tl.program_id(0), tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for e in range(0, E):
        p = tl.load(p_ptr + row * E + e)
        for d in range(0, D):
            w = tl.load(w_ptr + (e * D + d) * D + f, mask=f < D, other=0.0)
            acc += p * tl.load(x_ptr + row * D + d) * w
    tl.store(y_ptr + row * D + f, acc, mask=f < D)


def solution(x, logits, w):
    n, d = x.shape
    y, p = torch.empty_like(x), torch.softmax(logits, -1)
    _mix[(n,)](x, p, w, y, d, w.shape[0], BLOCK=triton.next_power_of_2(d))
    return y if d > 4 else (p.T[:, :, None] * torch.bmm(x.expand(w.shape[0], n, d), w)).sum(0)
