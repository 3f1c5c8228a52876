# expect: wrong_dtype numerics.wrong_dtype
import torch


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x.double(), x.shape[-1:], w.double(), b.double())
