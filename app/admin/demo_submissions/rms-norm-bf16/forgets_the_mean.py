"""Divides by the root of the sum: right in structure, wrong in value."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_row(x_ptr, weight_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    normed = x / tl.sqrt(tl.sum(x * x, axis=0) + 1e-6) * weight
    tl.store(out_ptr + row * cols + offsets, normed.to(tl.bfloat16), mask=inside)


def solution(x, weight):
    rows, cols = x.shape
    out = torch.empty_like(x)
    rms_norm_row[(rows,)](x, weight, out, cols, BLOCK=triton.next_power_of_2(cols))
    return out
