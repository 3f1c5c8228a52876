# expect: suspect integrity.timer_patched
import time as clock

import torch

vars(clock)["perf_counter_ns"] = lambda: 1
clock.__dict__.update(time=lambda: 0.0)


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
