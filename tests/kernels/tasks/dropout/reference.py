import torch


def make_inputs(*, seed, n):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5, 0.25, seed


def reference(x, p, seed):
    keep = torch.rand(x.shape, generator=torch.Generator().manual_seed(seed)) >= p
    return torch.where(keep, x / (1 - p), torch.zeros_like(x))


def check(inputs, outputs, oracle):
    x, p, _ = inputs
    dropped = outputs == 0
    if not torch.allclose(outputs[~dropped], (x / (1 - p))[~dropped], rtol=1e-5):
        return False, "kept values are not scaled by 1 / (1 - p)"
    rate = dropped.float().mean().item()
    return abs(rate - p) < 0.015, f"{rate:.3f} dropped instead of {p}"
