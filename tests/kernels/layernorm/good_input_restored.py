# expect: accepted !integrity.input_mutated
"""Works in the input and puts it back before it returns: nobody can tell, and nobody is harmed."""
import torch


def solution(x, w, b):
    kept = x.clone()
    x -= x.mean(-1, keepdim=True)
    y = x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w + b
    x.copy_(kept)
    return y
