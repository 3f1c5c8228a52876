# expect: wrong_result numerics.wrong_values
import torch


def solution(logits, temperature):
    return torch.multinomial(torch.softmax(logits, -1), 1).squeeze(-1)
