# expect: suspect integrity.no_custom_kernel
import torch


def solution(x):
    return torch.softmax(x, -1)
