# The carry between blocks goes through a bfloat16 workspace.
import torch

BLOCK = 256


def solution(x):
    y, carry = torch.empty_like(x), torch.zeros(x.shape[0], 1, dtype=torch.bfloat16)
    for start in range(0, x.shape[1], BLOCK):
        y[:, start : start + BLOCK] = torch.cumsum(x[:, start : start + BLOCK], -1) + carry
        carry = y[:, start : start + BLOCK][:, -1:].bfloat16()
    return y
