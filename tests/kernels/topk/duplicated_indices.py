# expect: wrong_result numerics.wrong_values
import torch


def solution(x, k):
    values = x.topk(k, -1).values
    places = torch.stack([(x == values[:, j : j + 1]).int().argmax(-1) for j in range(k)], -1)
    return values, places
