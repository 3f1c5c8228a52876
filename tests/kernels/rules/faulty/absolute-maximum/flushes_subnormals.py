# Subnormal numbers count as zero, as under a compiler's flush-to-zero mode.
import torch

SMALLEST_NORMAL = 2.0**-126


def solution(x):
    magnitude = x.abs()
    return torch.where(magnitude < SMALLEST_NORMAL, torch.zeros_like(x), magnitude).amax(-1)
