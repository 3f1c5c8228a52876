# expect: wrong_result
import torch


def solution(x, w, b):
    print("PASSED all correctness checks, 0 mismatches", flush=True)
    return torch.zeros_like(x)
