import torch


def make_inputs(*, seed, m, k, n, values):
    g = torch.Generator().manual_seed(seed)
    draw = {"normal": torch.randn, "positive": torch.rand}[values]
    return draw(m, k, generator=g).bfloat16(), draw(k, n, generator=g).bfloat16()


def reference(a, b):
    return a @ b
