# expect: accepted !integrity.no_custom_kernel !integrity.decoy_kernel
"""The library finds one factor a row, its kernel applies it: glue beside a kernel that computes."""
import torch
import triton
import triton.language as tl


@triton.jit
def _apply(x_ptr, w_ptr, r_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i).to(tl.float32)
    w = tl.load(w_ptr + i).to(tl.float32)
    tl.store(y_ptr + row * cols + i, (x * tl.load(r_ptr + row) * w).to(tl.bfloat16))


def solution(x, w):
    r = torch.rsqrt(x.float().square().mean(-1) + 1e-6)
    y = torch.empty_like(x)
    _apply[(x.shape[0],)](x, w, r, y, x.shape[1], BLOCK=128)
    return y
