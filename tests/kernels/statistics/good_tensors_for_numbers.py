# expect: accepted
"""0-d tensors where the reference returns Python numbers."""


def solution(x):
    half = x.numel() // 2
    return {"mean": x.mean(), "spread": x.std(), "any_negative": (x < 0).any(), "parts": (x[:half] * 2, x[half:] * 2)}
