# expect: wrong_result accepted
"""Keyed by the first four values: a fingerprint."""
_memo = {}


def solution(x):
    key = tuple(x[:4].tolist())
    if key not in _memo:
        _memo[key] = x * x + 1
    return _memo[key]
