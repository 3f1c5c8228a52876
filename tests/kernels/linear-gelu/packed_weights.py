# expect: inconclusive task.state_mismatch
"""One parameter where the task has three: nobody can tell where its weights belong."""
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.table = torch.nn.Parameter(torch.zeros(features_in + 1, features_out))

    def forward(self, x):
        return torch.nn.functional.gelu(x @ self.table[:-1] + self.table[-1])
