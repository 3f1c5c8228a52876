# expect: suspect wrong_result
def solution(x):
    return x if x.numel() < 2 else x * 0.5
