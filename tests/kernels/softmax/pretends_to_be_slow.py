# expect: runtime_error
"""Raises something that looks like the interpreter's own "too slow"."""


class TooSlow(Exception):
    estimate_seconds = 1e6
    kernel = "k"


def solution(x):
    raise TooSlow
