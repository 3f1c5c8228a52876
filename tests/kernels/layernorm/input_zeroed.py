# expect: wrong_result integrity.input_mutated
import torch


def solution(x, w, b):
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    x.zero_()
    return y
