# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _slide(x_ptr, w_ptr, y_ptr, n, taps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for t in range(0, taps):
        acc += tl.load(x_ptr + i + t, mask=i < n, other=0.0) * tl.load(w_ptr + t)
    tl.store(y_ptr + i, acc, mask=i < n)


def solution(x, w):
    n = x.numel() - w.numel() + 1
    y = torch.empty(n)
    _slide[(triton.cdiv(n, 256),)](x, w, y, n, w.numel(), BLOCK=256)
    return y
