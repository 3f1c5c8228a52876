# expect: wrong_result integrity.reads_caller_frame
import sys

import torch


def solution(x, w, b):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, torch.Tensor) and value.shape == x.shape and value is not x and value.data_ptr() != x.data_ptr():
                return value.clone()
        frame = frame.f_back
    return torch.zeros_like(x)
