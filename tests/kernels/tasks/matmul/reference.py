import torch


def make_inputs(*, seed, m, k, n):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)


def reference(a, b):
    return a @ b
