# Sums within blocks, and a float32 carry from each block to the next.
import torch

BLOCK = 256


def solution(x):
    y, carry = torch.empty_like(x), torch.zeros(x.shape[0], 1)
    for start in range(0, x.shape[1], BLOCK):
        y[:, start : start + BLOCK] = torch.cumsum(x[:, start : start + BLOCK], -1) + carry
        carry = y[:, start : start + BLOCK][:, -1:]
    return y
