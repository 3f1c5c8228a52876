# expect: wrong_result numerics.wrong_values
import torch


def solution(x, w, b):
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * w + b
