# expect: wrong_result numerics.wrong_values
import torch


def solution(lengths, n):
    i = torch.arange(n)
    return (i[None, None, :] < i[None, :, None]) & (i[None, :, None] < lengths[:, None, None])
