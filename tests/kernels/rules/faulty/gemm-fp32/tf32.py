# Inputs are rounded to tf32's 10 bits, as a tensor core does when nobody asks for more.
import torch


def solution(a, b):
    return _tf32(a) @ _tf32(b)


def _tf32(x):
    bits = x.contiguous().view(torch.int32)
    nearest = bits + 0xFFF + ((bits >> 13) & 1)
    return (nearest & ~0x1FFF).view(torch.float32)
