import torch


def make_inputs(*, seed, rows, cols):
    return (torch.randn(rows, cols, generator=torch.Generator().manual_seed(seed)),)


def reference(x):
    values, places = x.max(-1)
    return values, places
