import torch


def solution(x, s):
    return torch.add(x * s, 1.0)
