# One long sum in float32, a term after the other.
import torch


def solution(x):
    total = torch.zeros(x.shape[0])
    for column in x.unbind(1):
        total += column
    return total
