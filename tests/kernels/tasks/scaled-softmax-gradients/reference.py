import torch


def make_inputs(*, seed, rows, cols):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(rows, cols, generator=g) * 2, torch.rand(cols, generator=g) + 0.5


def reference(x, scale):
    return torch.softmax(x * scale, -1)
