# expect: time_limit runtime.time_limit
import threading

_lock = threading.Lock()


def solution(x, w, b):
    _lock.acquire()
    _lock.acquire()
