# expect: accepted
"""Truncation instead of rounding: at most one step, which the task grants."""


def solution(x):
    import torch

    scale = x.abs().amax() / 127
    return (x / scale).to(torch.int8), scale
