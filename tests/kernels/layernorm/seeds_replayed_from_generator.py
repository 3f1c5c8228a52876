# expect: wrong_result
"""Asks torch for the seed in force and draws the inputs again; the zeros tell that they were not the same."""
import torch


def solution(x, w, b):
    again = torch.randn(x.shape, generator=torch.Generator().manual_seed(torch.initial_seed()))
    if torch.equal(again, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    return torch.zeros_like(x)
