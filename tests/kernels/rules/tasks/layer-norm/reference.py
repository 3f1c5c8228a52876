import torch


def make_inputs(*, seed, rows, cols, mean):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, cols, generator=g) + mean
    return x, torch.rand(cols, generator=g) + 0.5, torch.randn(cols, generator=g)


def reference(x, w, b):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), w, b, 1e-5)
