# expect: suspect integrity.timer_patched
import torch

torch.cuda.synchronize = lambda *a, **k: None


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
