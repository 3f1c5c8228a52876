# expect: accepted !integrity.side_stream
import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))


def solution(x):
    y = torch.zeros((), dtype=x.dtype, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        _add[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    torch.cuda.current_stream().wait_stream(side)
    return y
