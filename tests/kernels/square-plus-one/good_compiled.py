# expect: accepted
import torch


@torch.compile
def _f(x):
    return x * x + 1


def solution(x):
    return _f(x)
