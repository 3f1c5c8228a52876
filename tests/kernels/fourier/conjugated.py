# expect: wrong_result numerics.wrong_values
import torch


def solution(x):
    return torch.fft.fft(x).conj()
