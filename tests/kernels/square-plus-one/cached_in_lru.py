# expect: wrong_result integrity.output_cache
from functools import lru_cache


@lru_cache
def solution(x):
    return x * x + 1
