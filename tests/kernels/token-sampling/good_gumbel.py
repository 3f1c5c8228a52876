# expect: accepted
import torch


def solution(logits, temperature):
    noise = -torch.log(-torch.log(torch.rand(logits.shape, dtype=torch.float64)))
    return (logits / temperature + noise).argmax(-1)
