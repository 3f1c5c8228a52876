# expect: accepted !integrity.lazy_output
import torch


def solution(x, w, b):
    return torch.nn.Parameter(torch.nn.functional.layer_norm(x, x.shape[-1:], w, b))
