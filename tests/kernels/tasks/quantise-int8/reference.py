import torch


def make_inputs(*, seed, n):
    return (torch.randn(n, generator=torch.Generator().manual_seed(seed)),)


def reference(x):
    scale = x.abs().amax() / 127
    return torch.round(x / scale).clamp(-127, 127).to(torch.int8), scale
