# expect: wrong_result runtime.race
"""Load, add, store without an atomic: programs overwrite each other on a device."""
import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0)
    tl.store(y_ptr, tl.load(y_ptr) + s)


def solution(x):
    y = torch.zeros(())
    _add[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
