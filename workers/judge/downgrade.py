"""Errors within the tolerance that the declared accumulator does not explain: lower precision inside, perhaps."""

from __future__ import annotations

import numpy as np

from app.domain.report import OutputResult, Severity, StageName
from app.domain.task import Workload
from workers.judge.notebook import Notebook

# Two orders of summation differ by so much in the root mean square; tf32 for fp32 is 2**13 away.
AS_GOOD = 2.0
# Half way, in powers of two, between a dtype's roundoff and that of the next coarser format (tf32, fp32): another
# formula in the same precision loses digits of small elements, but stays far below this over all of them.
COARSER = {"float32": 2.0**-17.5, "complex64": 2.0**-17.5, "float64": 2.0**-38.5, "complex128": 2.0**-38.5}


def note_downgrade(result: OutputResult, workload: Workload, notebook: Notebook) -> None:
    """Warn of an accepted output whose error neither its budget nor the reference's own error explains."""
    if not is_downgraded(result):
        return
    notebook.note(
        "numerics.precision_downgrade", Severity.WARNING, StageName.CORRECTNESS,
        f"`{result.name}` on `{workload.name}` is within the tolerance, but its error is"
        f" {result.budget_ratio:.3g} times what the declared accumulator explains",
        workload=workload.name, evidence={"output": result.name, "budget_ratio": result.budget_ratio},
    )  # fmt: skip


def is_downgraded(result: OutputResult) -> bool:
    """Whether an accepted output's error exceeds its budget, the reference errs less, and a format explains it."""
    exceeds = (result.budget_ratio or 0.0) > 1 and result.decided_by != "reference_error"
    return exceeds and not _as_good_as_reference(result) and not _too_fine(result)


def _too_fine(result: OutputResult) -> bool:
    """Whether the error over all elements is smaller than any coarser format's would be."""
    bound = COARSER.get(result.dtype)
    return bound is not None and result.normalised_rms is not None and result.normalised_rms < bound


def _as_good_as_reference(result: OutputResult) -> bool:
    """Whether the errors reach no higher octave than the reference's, and are not larger on the whole.

    Both read from the absolute errors by octaves, whose last bin counts special mismatches.
    """
    mine, reference = (np.array(h, float) for h in (result.error_histogram, result.reference_error_histogram))
    if not len(mine) or not len(reference) or mine[-1] or reference[-1]:
        return False
    return _highest(mine) <= _highest(reference) and _root_mean_square(mine) <= AS_GOOD * _root_mean_square(reference)


def _highest(histogram: np.ndarray) -> int:
    return int(np.flatnonzero(histogram)[-1]) if histogram.any() else 0


def _root_mean_square(histogram: np.ndarray) -> float:
    """In units of the first bin's upper end; the first bin holds the exact ones and counts as nothing."""
    upper_ends = np.exp2(np.arange(len(histogram), dtype=float))
    upper_ends[0] = 0.0
    return float(np.sqrt((histogram * upper_ends**2).sum() / max(1.0, histogram.sum())))
