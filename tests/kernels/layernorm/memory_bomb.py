# expect: memory_limit time_limit
import torch


def solution(x, w, b):
    kept = []
    while True:
        kept.append(torch.ones(64 << 20, dtype=torch.uint8))
