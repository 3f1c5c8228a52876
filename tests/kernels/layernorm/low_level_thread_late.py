# expect: suspect integrity.late_write
"""A thread that `threading` does not know of."""
import _thread
import time

import torch


def solution(x, w, b):
    out = torch.zeros_like(x)

    def work():
        time.sleep(0.1)
        out.copy_(torch.nn.functional.layer_norm(x, x.shape[-1:], w, b))

    _thread.start_new_thread(work, ())
    return out
