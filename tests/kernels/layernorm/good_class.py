# expect: accepted
"""The entry is an object with a call."""
import torch


class Norm:
    def __init__(self):
        self.calls = 0

    def __call__(self, x, w, b):
        self.calls += 1
        return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)


solution = Norm()
