# expect: runtime_error runtime.crash
def solution(x):
    return x
