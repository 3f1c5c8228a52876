# expect: accepted
import torch


def solution(x, kind, dtype, bias):
    assert isinstance(kind, str) and isinstance(dtype, torch.dtype)
    y = torch.relu(x) if kind == "relu" else x.square()
    return (y if bias is None else y + bias).to(dtype)
