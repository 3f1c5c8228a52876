# expect: accepted !integrity.output_aliased
def solution(x):
    return x.t()
