# expect: accepted
def solution(x):
    half = x.numel() // 2
    return {"parts": [x[:half] * 2, x[half:] * 2], "any_negative": bool((x < 0).any()), "spread": x.std(), "mean": float(x.mean())}
