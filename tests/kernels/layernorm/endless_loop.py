# expect: time_limit runtime.time_limit
def solution(x, w, b):
    while True:
        pass
