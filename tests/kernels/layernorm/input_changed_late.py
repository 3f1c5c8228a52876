# expect: wrong_result suspect
"""A timer zeroes the input once the call has returned."""
import threading

import torch


def solution(x, w, b):
    y = torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    threading.Timer(0.05, x.zero_).start()
    return y
