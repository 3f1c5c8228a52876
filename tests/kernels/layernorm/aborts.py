# expect: runtime_error runtime.crash
import os


def solution(x, w, b):
    os.abort()
