# expect: runtime_error wrong_shape wrong_result
import torch


def solution(x):
    out = torch.empty(500)
    out[:] = x[:500] * x[:500] + 1
    return out
