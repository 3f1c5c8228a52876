# expect: wrong_result integrity.later_call_differs
"""Right on the first call of a process only."""
import torch

_calls = 0


def solution(x):
    global _calls
    _calls += 1
    return x * x + 1 if _calls == 1 else torch.ones_like(x)
