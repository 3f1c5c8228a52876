"""Compares a candidate's outputs with what they should be; NumPy and ml_dtypes only.

`compare` judges one output, in the order that `rules` states; the other names answer the questions
that the judge asks about a task: is its tolerance vacuous, does its output move with its inputs,
did anything stay unwritten.
"""

from workers.judge.numerics.bits import poison_left, same_bits, same_values
from workers.judge.numerics.budget import ErrorBudget, error_budget
from workers.judge.numerics.comparison import compare
from workers.judge.numerics.movement import moved
from workers.judge.numerics.rules import Expected, Tolerance
from workers.judge.numerics.scaled import dequantised, scaled_distance
from workers.judge.numerics.structure import is_systematic
from workers.judge.numerics.ulp import ulp_distance
from workers.judge.numerics.vacuity import is_vacuous

__all__ = [
    "ErrorBudget",
    "Expected",
    "Tolerance",
    "compare",
    "dequantised",
    "error_budget",
    "is_systematic",
    "is_vacuous",
    "moved",
    "poison_left",
    "same_bits",
    "same_values",
    "scaled_distance",
    "ulp_distance",
]
