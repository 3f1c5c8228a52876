# expect: suspect integrity.no_custom_kernel
import torch


def solution(x, p, seed):
    return torch.nn.functional.dropout(x, p)
