# expect: accepted suspect wrong_result
"""Keyed by every byte: right, and only saves work when values repeat."""
_memo = {}


def solution(x):
    key = x.numpy().tobytes()
    if key not in _memo:
        _memo[key] = x * x + 1
    return _memo[key].clone()
