# expect: accepted !task.state_mismatch
"""Stores its weights in another form, and loads them itself."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.table = torch.nn.Parameter(torch.empty(features_in + 1, features_out))

    def load_state_dict(self, state, strict=True, assign=False):
        bias = state["proj.bias"] - state["mean"]
        self.table.copy_(torch.cat([state["proj.weight"].t(), bias[None]]))

    def forward(self, x):
        return torch.nn.functional.gelu(x @ self.table[:-1] + self.table[-1])
