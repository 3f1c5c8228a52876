# expect: accepted
import torch


def solution(logits, temperature):
    upto = torch.softmax(logits.double() / temperature, -1).cumsum(-1)
    u = torch.rand(len(logits), 1, dtype=torch.float64) * upto[:, -1:]
    return torch.searchsorted(upto, u, right=True).squeeze(-1)
