# expect: accepted
import torch


def solution(x):
    return torch.fft.fft(x)
