# expect: accepted !integrity.timer_patched
"""Names of its own that look like a clock's."""
import torch


class time:
    perf_counter = None


time.perf_counter = lambda: 0.0
abs = torch.abs


def solution(x, w, b):
    time.perf_counter()
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
