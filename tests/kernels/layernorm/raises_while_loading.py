# expect: runtime_error compile_error
raise ValueError("not today")


def solution(x, w, b):
    return x
