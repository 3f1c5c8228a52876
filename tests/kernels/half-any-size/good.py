# expect: accepted
"""Streams through memory; `stream` is only a word here."""
import torch
import triton
import triton.language as tl


@triton.jit
def _half_stream(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)


def solution(x):
    stream_out = torch.empty_like(x)
    if x.numel():
        _half_stream[(triton.cdiv(x.numel(), 256),)](x, stream_out, x.numel(), BLOCK=256)
    return stream_out
