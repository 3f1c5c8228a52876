# expect: runtime_error runtime.crash
import torch


def solution(x, w, b):
    if x.shape[1] % 8:
        raise NotImplementedError("multiples of eight only")
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
