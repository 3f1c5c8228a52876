# expect: accepted suspect integrity.timer_patched
"""The clock is replaced only while the call lasts, and restored before it returns."""
import threading
import time

import torch

_real = time.perf_counter


def solution(x, w, b):
    time.perf_counter = lambda: 0.0
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    threading.Timer(0.0, setattr, (time, "perf_counter", _real)).start()
    return y
