# expect: runtime_error integrity.process_exit
import sys


def solution(x, w, b):
    sys.exit(0)
