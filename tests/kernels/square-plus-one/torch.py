# expect: accepted !integrity.timer_patched
"""Its file is called like a library that it uses."""
import torch


def solution(x):
    return torch.addcmul(torch.ones_like(x), x, x)
