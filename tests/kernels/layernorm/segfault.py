# expect: runtime_error runtime.crash
import ctypes


def solution(x, w, b):
    return ctypes.string_at(8)
