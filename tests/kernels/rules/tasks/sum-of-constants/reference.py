import torch


def make_inputs(*, seed, rows, n):
    colour = torch.rand(rows, 1, generator=torch.Generator().manual_seed(seed))
    return (colour.expand(rows, n).contiguous(),)


def reference(x):
    return x.sum(-1)
