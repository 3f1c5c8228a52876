# expect: wrong_result numerics.wrong_values
import torch


def solution(x):
    return torch.full_like(x, 2.0)
