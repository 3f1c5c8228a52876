# expect: runtime_error integrity.process_exit
import os


def solution(x, w, b):
    os._exit(0)
