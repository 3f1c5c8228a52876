"""The zoo's engine, and tasks written on the spot."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.report import Report
from app.domain.request import EvaluationRequest
from tests.kernels.conftest import engine
from workers.judge.pipeline import evaluate

__all__ = ["engine"]

TASK = """schema = 1
name = "small"
title = "Small"
kind = "generation"
frameworks = ["torch", "triton"]
description = "words"
[[workloads]]
name = "open"
params = {{ n = 64 }}
[[workloads]]
name = "prime-sizes"
params = {{ n = 61 }}
hidden = true
[limits]
seconds = 5
{extra}
"""
REFERENCE = """
import torch

def make_inputs(*, seed, n):
    return (torch.randn(n, generator=torch.Generator().manual_seed(seed)),)

def reference(x):
    return x * 2
"""


class Bench:
    """Writes a task and a submission, and has them judged."""

    def __init__(self, folder: Path, sandboxes) -> None:
        self.folder, self.sandboxes = folder, sandboxes

    @staticmethod
    def task(kind: str) -> str:
        """The task's text with another kind, ready for `judge(task=...)`."""
        return TASK.replace("generation", kind)

    def judge(
        self, submission: str, *, reference: str = REFERENCE, extra: str = "", task: str = TASK, **request
    ) -> Report:
        (self.folder / "task.toml").write_text(task.format(extra=extra))
        (self.folder / "reference.py").write_text(reference)
        kernel = self.folder.parent / "kernel.py"
        kernel.write_text(submission)
        return evaluate(EvaluationRequest(self.folder, kernel, **request), self.sandboxes)


@pytest.fixture
def bench(tmp_path, engine):
    (tmp_path / "task").mkdir()
    return Bench(tmp_path / "task", engine)
