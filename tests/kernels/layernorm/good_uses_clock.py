# expect: accepted !integrity.timer_patched
"""Times two variants when first used, and imports the clock under a name of its own."""
import inspect
from time import perf_counter as clock

import torch


def _a(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)


def _b(x, w, b):
    m = x.mean(-1, keepdim=True)
    return (x - m) / torch.sqrt((x - m).square().mean(-1, keepdim=True) + 1e-5) * w + b


_best = {}


def solution(x, w, b):
    assert len(inspect.signature(_a).parameters) == 3
    if x.shape not in _best:
        times = {}
        for f in (_a, _b):
            start = clock()
            f(x, w, b)
            torch.cuda.synchronize()
            times[f] = clock() - start
        _best[x.shape] = min(times, key=times.get)
    return _best[x.shape](x, w, b)
