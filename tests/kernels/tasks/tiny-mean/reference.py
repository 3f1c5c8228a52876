import torch


def make_inputs(*, seed, rows, cols):
    return (torch.randn(rows, cols, generator=torch.Generator().manual_seed(seed)) * 1e-3,)


def reference(x):
    return x.mean(-1)
