# expect: wrong_result
def solution(x):
    return (x.half() * x.half() + 1).float()
