# expect: time_limit runtime.time_limit
import time


def solution(x, w, b):
    time.sleep(3600)
