import torch


def make_inputs(*, seed, rows, cols):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(rows, cols, generator=generator),)


def reference(x):
    return torch.softmax(x, -1)
