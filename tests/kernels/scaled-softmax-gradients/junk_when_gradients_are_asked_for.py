# expect: wrong_result numerics.wrong_values
import torch


def solution(x, scale):
    y = torch.softmax(x * scale, -1)
    return y * 1.1 if x.requires_grad else y
