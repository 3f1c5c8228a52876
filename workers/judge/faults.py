"""Our own failures, kept apart from everything a kernel or a task can do wrong."""

from __future__ import annotations


class EngineFault(Exception):
    """The engine itself failed; the evaluation has no verdict and may be tried again."""


class SubmissionError(Exception):
    """The submission cannot be read at all; the message says what to do."""
