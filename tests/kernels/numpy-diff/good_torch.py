# expect: accepted
import torch


def solution(x):
    assert isinstance(x, torch.Tensor)
    return x[1:] - x[:-1]
