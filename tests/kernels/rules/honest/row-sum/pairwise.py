# A tree: halves are added to halves.
import torch


def solution(x):
    while x.shape[1] > 1:
        half = (x.shape[1] + 1) // 2
        rest = torch.nn.functional.pad(x[:, half:], (0, 2 * half - x.shape[1]))
        x = x[:, :half] + rest
    return x[:, 0].clone()
