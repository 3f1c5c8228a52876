# One long sum in float32, whose rounding errors all have one sign on constant input.
import torch


def solution(x):
    total = torch.zeros(x.shape[0])
    for column in x.unbind(1):
        total += column
    return total
