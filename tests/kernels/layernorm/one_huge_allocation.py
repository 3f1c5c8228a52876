# expect: memory_limit runtime.memory_limit
import torch


def solution(x, w, b):
    return torch.zeros(1 << 44, dtype=torch.uint8).fill_(1)
