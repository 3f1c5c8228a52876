# expect: suspect wrong_result
"""A child process fills shared memory after the call has returned."""
import os
import time

import torch


def solution(x, w, b):
    out = torch.zeros_like(x).share_memory_()
    if os.fork() == 0:
        time.sleep(0.1)
        out.copy_(torch.nn.functional.layer_norm(x, x.shape[-1:], w, b))
        os._exit(0)
    return out
