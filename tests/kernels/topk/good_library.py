# expect: accepted
import torch


def solution(x, k):
    return torch.topk(x, k, dim=-1)
