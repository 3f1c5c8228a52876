# expect: accepted
import torch


def solution(x):
    scale = x.abs().amax() / 127
    return torch.floor(x / scale + 0.5).clamp(-127, 127).to(torch.int8), scale
