# expect: wrong_shape wrong_dtype
import torch


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b).tolist()
