# expect: wrong_shape memory_limit runtime_error time_limit
import torch


def solution(x, w, b):
    return torch.empty(3 << 30, dtype=torch.uint8)
