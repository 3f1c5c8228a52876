# expect: accepted
import torch


def solution(x):
    return torch.diff(x)
