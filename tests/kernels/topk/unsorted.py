# expect: wrong_result numerics.wrong_values
def solution(x, k):
    values, places = x.topk(k, -1)
    return values.flip(-1), places.flip(-1)
