# expect: memory_limit runtime.memory_limit
def solution(x, w, b):
    return [0] * (1 << 58)
