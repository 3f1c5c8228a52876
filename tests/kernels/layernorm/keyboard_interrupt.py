# expect: runtime_error runtime.crash
def solution(x, w, b):
    raise KeyboardInterrupt
