# expect: wrong_result numerics.nan_mismatch
def solution(x):
    y = x * x + 1
    y[7] = float("nan")
    return y
