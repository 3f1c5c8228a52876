import torch


def make_inputs(*, seed, rows, cols):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(rows, cols, generator=g) * 1000
    return x, x.flip(-1) + torch.randn(rows, cols, generator=g) * 0.01


def reference(x, y):
    return x.sum(-1) - y.sum(-1)
