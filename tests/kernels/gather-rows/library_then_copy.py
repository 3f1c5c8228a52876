# expect: suspect integrity.no_custom_kernel
"""A gather by the library, and a kernel that copies what was the answer already."""
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def solution(table, index):
    g = table[index]
    o = torch.empty_like(g)
    _copy[(triton.cdiv(g.numel(), 128),)](g, o, g.numel(), BLOCK=128)
    return o
