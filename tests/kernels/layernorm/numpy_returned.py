# expect: wrong_dtype numerics.wrong_dtype
"""Right numbers in a NumPy array where the contract says torch."""
import torch


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b).numpy()
