# expect: accepted !integrity.late_write
"""A pool that outlives the call, all of whose work is waited for."""
from concurrent.futures import ThreadPoolExecutor

import torch

_pool = ThreadPoolExecutor(2)


def solution(x, w, b):
    norm = torch.nn.functional.layer_norm
    return torch.stack(list(_pool.map(lambda row: norm(row, row.shape, w, b), x)))
