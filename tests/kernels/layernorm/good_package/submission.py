# expect: accepted
"""Several files, one importing another."""
from pieces.parts import centre

import torch


def solution(x, w, b):
    c = centre(x)
    return c * torch.rsqrt(c.square().mean(-1, keepdim=True) + 1e-5) * w + b
