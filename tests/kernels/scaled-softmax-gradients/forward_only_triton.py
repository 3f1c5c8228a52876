# expect: wrong_result gradients.missing
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, scale_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < cols
    z = tl.load(x_ptr + row * cols + at, inside, 0.0) * tl.load(scale_ptr + at, inside, 0.0)
    z = tl.where(inside, z, float("-inf"))
    e = tl.exp(z - tl.max(z, 0))
    tl.store(y_ptr + row * cols + at, e / tl.sum(e, 0), inside)


def solution(x, scale):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](x, scale, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
