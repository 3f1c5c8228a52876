import torch


def make_inputs(*, seed, n):
    return (torch.rand(n, generator=torch.Generator().manual_seed(seed)),)


def reference(x):
    return torch.cumsum(x, 0)
