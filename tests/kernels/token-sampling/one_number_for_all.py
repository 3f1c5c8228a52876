# expect: wrong_result numerics.wrong_values
import torch


def solution(logits, temperature):
    upto = torch.softmax(logits.double() / temperature, -1).cumsum(-1)
    u = torch.rand(1, dtype=torch.float64).expand(len(logits), 1).contiguous()
    return torch.searchsorted(upto, u, right=True).squeeze(-1).clamp(max=logits.shape[-1] - 1)
