# expect: wrong_shape runtime_error suspect
"""Nothing has been computed when it returns."""
import torch


def solution(x, w, b):
    for row in x:
        yield torch.nn.functional.layer_norm(row, row.shape, w, b)
