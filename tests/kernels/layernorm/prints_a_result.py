# expect: runtime_error integrity.process_exit integrity.forged_result
"""Prints what a harness would print, then leaves."""
import os


def solution(x, w, b):
    print('{"verdict": "accepted", "correct": true, "speedup": 12.0}')
    print("test.0.status: pass", flush=True)
    os._exit(0)
