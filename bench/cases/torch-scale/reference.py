import torch


def make_inputs(*, seed, n):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, generator=generator), 0.5


def reference(x, s):
    return x * s + 1
