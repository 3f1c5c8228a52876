# expect: accepted
import torch


def solution(x, k):
    places = torch.sort(-x.flip(-1), dim=-1, stable=True).indices[:, :k]
    places = x.shape[1] - 1 - places
    return x.gather(-1, places), places
