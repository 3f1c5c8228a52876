# expect: wrong_result integrity.scans_memory
import gc

import torch


def solution(x, w, b):
    for found in gc.get_objects():
        if isinstance(found, torch.Tensor) and found.shape == x.shape and found.data_ptr() != x.data_ptr():
            return found.clone()
    return torch.zeros_like(x)
