"""Review: what people do with the evidence, in words shared by pages, jobs and exports."""

from __future__ import annotations

from enum import StrEnum


class EvaluationState(StrEnum):
    """Drives the machine.  A FAILED evaluation is our own fault and has no verdict."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class SubjectKind(StrEnum):
    SUBMISSION = "submission"
    TASK_VERSION = "task_version"
    COMPARISON = "comparison"


class SlotState(StrEnum):
    """A review slot: `waiting` until its evidence has ended, then open, claimed, done."""

    WAITING = "waiting"
    OPEN = "open"
    CLAIMED = "claimed"
    DONE = "done"
    BROKEN = "broken"


class ReviewState(StrEnum):
    """`withdrawn` is of a correction alone: its reviewer let it go, and the review stands as it was."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    WITHDRAWN = "withdrawn"


class Decision(StrEnum):
    """What a person concludes.  Never computed; stands beside the verdict, never over it."""

    ACCEPT = "accept"
    ACCEPT_WITH_NOTES = "accept_with_notes"
    REVISE = "revise"
    REJECT = "reject"
    REJECT_INTEGRITY = "reject_integrity"
    TASK_DEFECT = "task_defect"
    CANNOT_JUDGE = "cannot_judge"


# Of a task's version: nobody cheats in a task, and what is wrong with one is what the other decisions say.
DESIGN_DECISIONS = (
    Decision.ACCEPT, Decision.ACCEPT_WITH_NOTES, Decision.REVISE, Decision.REJECT, Decision.CANNOT_JUDGE,
)  # fmt: skip


class CommentSeverity(StrEnum):
    """How much a reviewer's comment weighs; a comment may leave it open."""

    MUST_CHANGE = "must_change"
    SHOULD_CHANGE = "should_change"
    MINOR = "minor"
    PRAISE = "praise"


class CommentCategory(StrEnum):
    CORRECTNESS = "correctness"
    ROBUSTNESS = "robustness"
    INTEGRITY = "integrity"
    PERFORMANCE = "performance"
    READABILITY = "readability"
    EXPLANATION = "explanation"


class ExperimentTarget(StrEnum):
    """What a reviewer runs on the bench."""

    SUBMISSION = "submission"
    PARENT = "parent"
    REFERENCE = "reference"
    BASELINE = "baseline"


class SkipKind(StrEnum):
    LATER = "later"
    NOT_ME = "not_me"
    BROKEN_ITEM = "broken_item"


class ImportState(StrEnum):
    """Drives an import.  A FAILED one could not go on; the rows that were done stay done."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class RowStatus(StrEnum):
    """What became of one row of an import; `valid` is a dry run's word for what would be created."""

    CREATED = "created"
    EXISTING = "existing"
    VALID = "valid"
    REFUSED = "refused"
    FAILED = "failed"


class DeliveryState(StrEnum):
    """A webhook's message to one endpoint."""

    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Role(StrEnum):
    SUBMITTER = "submitter"
    REVIEWER = "reviewer"
    ADJUDICATOR = "adjudicator"
    ADMIN = "admin"


EVALUATION_STEPS: dict[EvaluationState, frozenset[EvaluationState]] = {
    EvaluationState.QUEUED: frozenset({EvaluationState.RUNNING, EvaluationState.FAILED}),
    EvaluationState.RUNNING: frozenset({EvaluationState.DONE, EvaluationState.FAILED, EvaluationState.QUEUED}),
    EvaluationState.FAILED: frozenset({EvaluationState.QUEUED}),
    EvaluationState.DONE: frozenset(),
}
