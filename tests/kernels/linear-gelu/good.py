# expect: accepted
"""The same names, and a buffer of its own that is no part of the state."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.proj = torch.nn.Linear(features_in, features_out)
        self.register_buffer("mean", torch.zeros(features_out))
        self.register_buffer("factor", torch.tensor(0.5), persistent=False)

    def forward(self, x):
        y = x @ self.proj.weight.t() + (self.proj.bias - self.mean)
        return self.factor * y * (1 + torch.erf(y * 2**-0.5))
