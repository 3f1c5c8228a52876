# expect: accepted inconclusive
import torch


@torch.jit.script
def solution(x):
    return x * x + 1
