# expect: accepted
def solution(x):
    return x * x + 1
