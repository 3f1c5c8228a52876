# expect: wrong_result integrity.input_mutated
def solution(x, w, b):
    x -= x.mean(-1, keepdim=True)
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w + b
