# expect: accepted
"""Keeps what it makes of the weights, which this task allows."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.proj = torch.nn.Linear(features_in, features_out)
        self.register_buffer("mean", torch.zeros(features_out))
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.proj.weight.t().contiguous(), self.proj.bias - self.mean
        return torch.nn.functional.gelu(torch.addmm(self.packed[1], x, self.packed[0]))
