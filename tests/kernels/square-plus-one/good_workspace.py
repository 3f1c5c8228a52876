# expect: accepted !integrity.output_aliased
import torch

_work = {}


def solution(x):
    scratch = _work.setdefault(x.shape, torch.empty_like(x))
    torch.mul(x, x, out=scratch)
    return scratch + 1
