# expect: accepted numerics.wrong_layout
import torch


def solution(x, w, b):
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    return y.t().contiguous().t()
