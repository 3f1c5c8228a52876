# expect: wrong_result numerics.nan_mismatch
import torch


def solution(x):
    return torch.full_like(x, float("nan"))
