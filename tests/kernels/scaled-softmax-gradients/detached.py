# expect: wrong_result gradients.missing
import torch


def solution(x, scale):
    z = x * scale
    z = z - z.amax(-1, keepdim=True)
    e = z.exp()
    return (e / e.sum(-1, keepdim=True)).detach()
