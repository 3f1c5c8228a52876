# expect: wrong_result
def solution(x):
    return x[:-1] - x[1:]
