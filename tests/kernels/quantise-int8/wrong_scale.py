# expect: wrong_result numerics.wrong_values
def solution(x):
    import torch

    scale = x.abs().amax() / 128
    return torch.round(x / scale).clamp(-127, 127).to(torch.int8), scale
