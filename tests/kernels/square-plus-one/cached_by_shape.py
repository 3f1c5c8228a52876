# expect: wrong_result integrity.output_cache
_memo = {}


def solution(x):
    if x.shape not in _memo:
        _memo[x.shape] = x * x + 1
    return _memo[x.shape].clone()
