# expect: wrong_result
"""Learns the weights of the first module that it sees, and uses them for every other."""
import torch

SEEN = {}


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.proj = torch.nn.Linear(features_in, features_out)
        self.register_buffer("mean", torch.zeros(features_out))

    def forward(self, x):
        w = SEEN.setdefault(self.proj.weight.shape, (self.proj.weight.clone(), self.proj.bias - self.mean))
        return torch.nn.functional.gelu(torch.nn.functional.linear(x, *w))
