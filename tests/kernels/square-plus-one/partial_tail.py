# expect: wrong_result integrity.uninitialised_output
import torch


def solution(x):
    out = torch.empty_like(x)
    n = x.numel() // 128 * 128
    out[:n] = x[:n] * x[:n] + 1
    return out
