# expect: wrong_result numerics.wrong_values
def solution(x):
    half = x.numel() // 2
    return {"mean": float(x.mean()) + 0.01, "spread": x.std(), "any_negative": True, "parts": [x[:half] * 2, x[half:] * 2]}
