# expect: accepted
import torch

_scale = torch.ones(1, requires_grad=True)


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b) * _scale
