# expect: accepted !integrity.timer_patched
"""Its file is called like a module of the standard library, which it uses."""
import copy

import torch


def solution(x):
    options = copy.deepcopy({"value": 1.0})
    return torch.addcmul(torch.ones_like(x), x, x, **options)
