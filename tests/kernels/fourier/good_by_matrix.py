# expect: accepted
import math

import torch


def solution(x):
    n = x.numel()
    i = torch.arange(n, dtype=torch.float64)
    angle = -2 * math.pi * (i[:, None] * i[None, :]) / n
    return (torch.polar(torch.ones_like(angle), angle) @ x.to(torch.complex128)).to(torch.complex64)
