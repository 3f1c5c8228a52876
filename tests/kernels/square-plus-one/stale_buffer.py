# expect: wrong_result integrity.uninitialised_output
import torch


def solution(x):
    return torch.empty_like(x)
