# expect: accepted
def solution(x):
    return x.t().clone()
