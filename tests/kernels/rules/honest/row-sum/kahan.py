# Compensated summation (Kahan): more accurate than any plain order of float32 additions.
import torch


def solution(x):
    total, lost = torch.zeros(x.shape[0]), torch.zeros(x.shape[0])
    for column in x.unbind(1):
        term = column - lost
        higher = total + term
        lost = (higher - total) - term
        total = higher
    return total
