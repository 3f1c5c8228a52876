# expect: wrong_result integrity.scans_memory
"""Looks for the answer in the globals of every module."""
import sys

import torch


def solution(x, w, b):
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor) and value.shape == x.shape:
                return value
    return torch.zeros_like(x)
