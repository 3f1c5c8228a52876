# expect: wrong_result integrity.output_cache
"""Takes so long at first that it hopes not to be called again."""
import time

_memo = {}


def solution(x):
    if x.shape not in _memo:
        time.sleep(2.6)
        _memo[x.shape] = x * x + 1
    return _memo[x.shape].clone()
