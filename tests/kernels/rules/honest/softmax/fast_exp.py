# exp by a polynomial of degree 5 over one octave, as fast kernels have it where the special unit is the bottleneck.
import math

import torch


def solution(x):
    e = _exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def _exp(x):
    t = (x * math.log2(math.e)).clamp(min=-126.0)
    whole = torch.round(t)
    f = (t - whole) * math.log(2)
    p = 1 + f * (1 + f * (1 / 2 + f * (1 / 6 + f * (1 / 24 + f / 120))))
    return torch.ldexp(p, whole)
