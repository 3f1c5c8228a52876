import torch


def make_inputs(*, seed, n):
    return (torch.randn(n, generator=torch.Generator().manual_seed(seed)),)


def reference(x):
    return x * 0.5
