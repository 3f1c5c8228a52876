# expect: accepted
"""Written for a device: checks, moves, synchronises."""
import torch


def solution(x):
    assert torch.cuda.is_available()
    x = x.cuda() if not x.is_cuda else x
    assert x.device.type == "cuda"
    y = torch.empty_like(x, device="cuda")
    torch.mul(x, x, out=y)
    y.add_(1)
    torch.cuda.synchronize()
    return y
