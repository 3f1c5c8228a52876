# expect: wrong_result
"""Ignores the buffer."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.proj = torch.nn.Linear(features_in, features_out)
        self.register_buffer("mean", torch.zeros(features_out))

    def forward(self, x):
        return torch.nn.functional.gelu(self.proj(x))
