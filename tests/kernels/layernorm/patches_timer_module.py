# expect: suspect integrity.timer_patched
import time

import torch

_real = time.perf_counter
time.perf_counter = lambda: _real() * 0.01


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
