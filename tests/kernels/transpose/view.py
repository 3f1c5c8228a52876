# expect: suspect wrong_result
def solution(x):
    return x.t()
