"""Semantic checks for tasks with more than one right answer, to be called from `check` in a `reference.py`.

Every function takes torch, JAX or NumPy values and returns a `Result`: a pair (ok, message) that is true where `ok` is,
so that `return top_k(...) and dropped_out(...)` gives the first refusal.  A message names the first offending index.
A `ValueError` means that the check itself is asked wrongly, for example with too few draws to tell anything.
"""

from workbench_checks.dropout import dropped_out
from workbench_checks.orders import is_permutation, same_items, same_rows, sorts
from workbench_checks.result import Result
from workbench_checks.sampling import drawn_from, follows, normal, uniform
from workbench_checks.sparse import same_coo, same_csr
from workbench_checks.ties import arg_extreme, arg_sort, top_k
from workbench_checks.vectors import eigen, same_up_to_phase, svd

__all__ = [
    "Result",
    "arg_extreme",
    "arg_sort",
    "drawn_from",
    "dropped_out",
    "eigen",
    "follows",
    "is_permutation",
    "normal",
    "same_coo",
    "same_csr",
    "same_items",
    "same_rows",
    "same_up_to_phase",
    "sorts",
    "svd",
    "top_k",
    "uniform",
]
