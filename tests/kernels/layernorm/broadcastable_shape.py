# expect: wrong_shape numerics.wrong_shape
"""Broadcasts to the expected shape, but is not it."""
import torch


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b).unsqueeze(0)
