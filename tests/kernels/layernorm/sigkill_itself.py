# expect: runtime_error
import os
import signal


def solution(x, w, b):
    os.kill(os.getpid(), signal.SIGKILL)
