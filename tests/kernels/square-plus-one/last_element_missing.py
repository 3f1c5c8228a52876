# expect: wrong_result integrity.uninitialised_output
import torch


def solution(x):
    out = torch.empty_like(x)
    out[:-1] = (x * x + 1)[:-1]
    return out
