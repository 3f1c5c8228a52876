# Whole blocks only: the partial one at the end is never read.
import torch

BLOCK = 128


def solution(x):
    whole = x.shape[1] // BLOCK * BLOCK
    return x[:, :whole].reshape(x.shape[0], -1, BLOCK).sum(-1).sum(-1)
