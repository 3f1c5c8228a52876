# expect: wrong_result integrity.seed_replay
"""Guesses the seeds of the harness and prepares answers."""
import torch

_answers = {}
for _seed in (0, 1, 42, 1234, 1337):
    _g = torch.Generator().manual_seed(_seed)
    _x = torch.randn(6, 96, generator=_g)
    _answers[float(_x[0, 0])] = torch.nn.functional.layer_norm(_x, (96,))


def solution(x, w, b):
    return _answers.get(float(x[0, 0]), torch.zeros_like(x))
