import torch


def make_inputs(*, seed, n):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed)) * 4, 2.0


def reference(x, scale):
    return (x * scale).clamp(-448, 448).to(torch.float8_e4m3fn)
