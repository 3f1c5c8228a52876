# expect: accepted
"""A view into a wider buffer; the rest of the buffer is nobody's business."""
import torch


def solution(x, w, b):
    wide = torch.empty(x.shape[0], x.shape[1] + 8)
    wide[:, : x.shape[1]] = torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    return wide[:, : x.shape[1]]
