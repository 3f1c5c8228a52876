# expect: wrong_result integrity.first_call_differs
_ready = False


def solution(x):
    global _ready
    if not _ready:
        _ready = True
        return x * x
    return x * x + 1
