# expect: accepted
import torch


def solution(x):
    out = torch.empty(x.shape, dtype=x.dtype, device="cuda:0")
    out[::2] = x[::2] ** 2 + 1
    out[1::2] = x[1::2] ** 2 + 1
    return out
