# expect: suspect integrity.kernel_never_ran
import numpy as np
import torch
import triton


def solution(x):
    a = x.numpy()
    e = np.exp(a - a.max(-1, keepdims=True))
    return torch.from_numpy(e / e.sum(-1, keepdims=True))
