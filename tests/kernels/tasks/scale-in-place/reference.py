import torch


def make_inputs(*, seed, n):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed)), 0.75


def reference(x, s):
    x *= s
