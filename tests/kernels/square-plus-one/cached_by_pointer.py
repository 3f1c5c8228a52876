# expect: wrong_result integrity.output_cache
_memo = {}


def solution(x):
    key = x.data_ptr(), x.shape
    if key not in _memo:
        _memo[key] = x * x + 1
    return _memo[key]
