# expect: suspect integrity.timer_patched
import torch

torch.allclose = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None


def solution(x, w, b):
    return torch.zeros_like(x)
