# expect: runtime_error runtime.crash
import torch


def solution(x, w, b):
    assert x.shape[1] == 96
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
