import torch
from workbench_checks import dropped_out


def make_inputs(*, seed, n):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5, 0.25, seed


def reference(x, p, seed):
    keep = torch.rand(x.shape, generator=torch.Generator().manual_seed(seed)) >= p
    return torch.where(keep, x / (1 - p), torch.zeros_like(x))


def check(inputs, outputs, oracle):
    x, p, _ = inputs
    return dropped_out(outputs, x, p)
