# float32 inside, but the upper half of its bits is stored as it is: rounded toward zero, not to nearest.
import torch


def solution(x, w, b):
    y = torch.nn.functional.layer_norm(x.float(), (x.shape[1],), w.float(), b.float(), 1e-5)
    return (y.view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)
