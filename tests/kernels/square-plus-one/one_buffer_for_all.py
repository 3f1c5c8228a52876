# expect: wrong_result integrity.output_aliased
"""Returns the same memory from every call, so a result that a caller kept changes under its hands."""
import torch

_buffers = {}


def solution(x):
    out = _buffers.setdefault(x.shape, torch.empty_like(x))
    torch.mul(x, x, out=out)
    out += 1
    return out
