"""Right values, but the caller's vector is overwritten."""


def solution(x, alpha):
    return x.mul_(alpha)
