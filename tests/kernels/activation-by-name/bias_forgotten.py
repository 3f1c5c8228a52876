# expect: wrong_result numerics.wrong_values
import torch


def solution(x, kind, dtype, bias):
    y = torch.relu(x) if kind == "relu" else x.square()
    return y.to(dtype)
