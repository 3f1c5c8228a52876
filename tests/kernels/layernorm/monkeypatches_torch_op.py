# expect: accepted suspect
"""Replaces the operator it then calls with its own; other code's results would change."""
import torch

_norm = torch.nn.functional.layer_norm
torch.nn.functional.layer_norm = lambda *a, **k: _norm(*a, **k)


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
