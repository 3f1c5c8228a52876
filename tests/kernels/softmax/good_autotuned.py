# expect: accepted
import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=w) for w in (1, 2, 4)], key=["cols"])
@triton.jit
def _rows(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * cols + i, e / tl.sum(e, 0), mask=i < cols)


def solution(x):
    y = torch.empty_like(x)
    _rows[lambda meta: (x.shape[0],)](x, y, x.shape[1])
    return y
