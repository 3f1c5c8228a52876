# expect: wrong_result numerics.inf_mismatch
def solution(x):
    y = x * x + 1
    y[7] = float("inf")
    return y
