# expect: accepted !task.state_mismatch
"""Other names in the same order."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.register_buffer("centre", torch.zeros(features_out))
        self.layer = torch.nn.Linear(features_in, features_out)

    def forward(self, x):
        return torch.nn.functional.gelu(self.layer(x) - self.centre)
