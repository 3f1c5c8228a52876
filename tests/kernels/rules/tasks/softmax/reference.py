import torch


def make_inputs(*, seed, rows, cols, spread):
    return (spread * torch.randn(rows, cols, generator=torch.Generator().manual_seed(seed)),)


def reference(x):
    return torch.softmax(x, -1)
