# exp of the logits as they are.
import torch


def solution(x):
    e = torch.exp(x)
    return e / e.sum(-1, keepdim=True)
