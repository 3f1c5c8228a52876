# expect: runtime_error runtime.output_limit
import sys


def solution(x, w, b):
    while True:
        sys.stdout.write("x" * 65536)
