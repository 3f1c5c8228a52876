# expect: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(s_ptr, k_ptr, y_ptr, COLS: tl.constexpr):
    i = tl.program_id(0) * COLS + tl.arange(0, COLS)
    kept = tl.load(k_ptr + i) != 0
    s = tl.where(kept, tl.load(s_ptr + i), -float("inf"))
    top = tl.max(s, 0)
    top = tl.where(top == -float("inf"), 0.0, top)
    e = tl.exp(s - top)
    total = tl.sum(e, 0)
    tl.store(y_ptr + i, e / tl.where(total == 0, 1.0, total))


def solution(s, keep):
    y = torch.empty_like(s)
    _rows[(s.shape[0],)](s, keep, y, COLS=s.shape[1])
    return y
