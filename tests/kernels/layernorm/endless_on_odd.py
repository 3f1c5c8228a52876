# expect: time_limit runtime.time_limit
import torch


def solution(x, w, b):
    n = x.shape[1]
    while n % 2:
        n -= 2
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
