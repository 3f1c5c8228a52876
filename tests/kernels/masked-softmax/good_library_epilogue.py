# expect: accepted !integrity.no_custom_kernel !integrity.decoy_kernel
"""Empty rows are put right by the library afterwards."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(s_ptr, k_ptr, y_ptr, COLS: tl.constexpr):
    i = tl.program_id(0) * COLS + tl.arange(0, COLS)
    s = tl.where(tl.load(k_ptr + i) != 0, tl.load(s_ptr + i), -float("inf"))
    e = tl.exp(s - tl.max(s, 0))
    tl.store(y_ptr + i, e / tl.sum(e, 0))


def solution(s, keep):
    y = torch.empty_like(s)
    _rows[(s.shape[0],)](s, keep, y, COLS=s.shape[1])
    return torch.nan_to_num(y, nan=0.0)
