# expect: suspect integrity.no_custom_kernel
import torch


def solution(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
