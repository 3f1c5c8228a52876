# expect: runtime_error
import os


def solution(x, w, b):
    os.closerange(0, 512)
    return x
