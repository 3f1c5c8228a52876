# expect: compile_error compile.error
def solution(x, w, b):
    return x +
