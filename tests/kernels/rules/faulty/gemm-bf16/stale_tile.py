# The prefetch of a persistent kernel stops one tile early: the last tile is computed from the operands before it.
import torch

BLOCK = 16


def solution(a, b):
    y = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype)
    tiles = [(i, j) for i in range(0, a.shape[0], BLOCK) for j in range(0, b.shape[1], BLOCK)]
    staged = _load(a, b, *tiles[0])
    for n, (i, j) in enumerate(tiles):
        left, right = staged
        y[i : i + BLOCK, j : j + BLOCK] = (left @ right).to(a.dtype)
        if n + 2 < len(tiles):
            staged = _load(a, b, *tiles[n + 1])
    return y


def _load(a, b, i, j):
    return a[i : i + BLOCK].float(), b[:, j : j + BLOCK].float()
