# expect: wrong_shape numerics.wrong_shape
def solution(x, w, b):
    return None
