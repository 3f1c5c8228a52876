# expect: accepted
"""Pads and slices with the library around its own kernel: glue, not the work."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rows(x_ptr, y_ptr, cols, stride, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + i)
    e = tl.where(i < cols, tl.exp(x - tl.max(x, 0)), 0.0)
    tl.store(y_ptr + row * stride + i, e / tl.sum(e, 0))


def solution(x):
    rows, cols = x.shape
    width = triton.next_power_of_2(cols)
    padded = torch.nn.functional.pad(x, (0, width - cols), value=float("-inf")).contiguous()
    y = torch.zeros_like(padded)
    _rows[(rows,)](padded, y, cols, width, BLOCK=width)
    return torch.cat([y[: rows // 2, :cols], y[rows // 2 :, :cols]])
