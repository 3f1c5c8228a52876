# expect: suspect integrity.timer_patched
import builtins

import torch

builtins.abs = lambda value: 0


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
