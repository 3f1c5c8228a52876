# expect: wrong_result integrity.output_cache
_memo = {}


def solution(x):
    if id(x) not in _memo:
        _memo[id(x)] = x, x * x + 1
    return _memo[id(x)][1]
