# expect: runtime_error compile_error integrity.process_exit
import os

os._exit(0)


def solution(x, w, b):
    return x
