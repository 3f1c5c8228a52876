# expect: wrong_shape numerics.wrong_shape
def solution(x):
    return {"mean": float(x.mean()), "spread": x.std(), "any_negative": True}
