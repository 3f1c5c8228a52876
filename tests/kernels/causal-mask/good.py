# expect: accepted !task.constant_output
import torch


def solution(lengths, n):
    i = torch.arange(n)
    return (i[None, None, :] <= i[None, :, None]) & (i[None, :, None] < lengths[:, None, None])
