import torch


def make_inputs(*, seed, n):
    return torch.linspace(-2, 2, n)


def reference(x):
    return x**3
