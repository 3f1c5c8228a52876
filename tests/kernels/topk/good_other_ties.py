# expect: accepted
import torch


def solution(x, k):
    places = (-x.flip(-1)).argsort(-1, stable=True)[:, :k]
    places = x.shape[1] - 1 - places
    return x.gather(-1, places), places
