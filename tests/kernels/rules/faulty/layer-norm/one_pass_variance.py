# The variance as the mean square less the squared mean, which cancels far from zero.
import torch


def solution(x, w, b):
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) * torch.rsqrt(variance.clamp(min=0.0) + 1e-5) * w + b
