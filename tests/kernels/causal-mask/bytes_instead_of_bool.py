# expect: wrong_dtype numerics.wrong_dtype
import torch


def solution(lengths, n):
    i = torch.arange(n)
    return ((i[None, None, :] <= i[None, :, None]) & (i[None, :, None] < lengths[:, None, None])).to(torch.uint8)
