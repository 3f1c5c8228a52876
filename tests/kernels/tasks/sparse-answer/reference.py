import torch


def make_inputs(*, seed, limit):
    return torch.randn(300, generator=torch.Generator().manual_seed(seed)), limit


def reference(x, limit):
    return torch.where(x > limit, x, torch.zeros_like(x))
