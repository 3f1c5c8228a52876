# expect: accepted
def solution(x):
    half = x.numel() // 2
    return {"mean": float(x.mean()), "spread": x.std(), "any_negative": bool((x < 0).any()), "parts": [x[:half] * 2, x[half:] * 2]}
