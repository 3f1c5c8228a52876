# expect: runtime_error wrong_result
import subprocess

import torch


def solution(x, w, b):
    subprocess.run(["sh", "-c", "cat /etc/shadow /proc/1/environ; sleep 0"], check=False)
    raise RuntimeError("done")
