import torch


def make_inputs(*, seed, rows, cols):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(rows, cols, generator=g) * 3 - 2


def reference(x):
    return torch.nn.functional.softplus(x)
