import torch


def make_inputs(*, seed, n):
    x = torch.randn(n, generator=torch.Generator().manual_seed(seed))
    x[3], x[4], x[5] = 0.0, float("inf"), float("nan")
    return (x,)


def reference(x):
    return torch.log(x)
