# Everything in float64, rounded once: as accurate as an answer in bfloat16 can be.
import torch


def solution(q, k, v):
    q, k, v = q.double(), k.double(), v.double()
    return (torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v).bfloat16()
