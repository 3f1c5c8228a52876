# expect: suspect
"""A copy by the library is the whole task here."""


def solution(x):
    return x.t().contiguous()
