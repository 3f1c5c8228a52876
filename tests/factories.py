"""Functions that build what a test needs, each with overrides; they build what is missing below them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.accounts import service as accounts
from app.accounts.policy import Viewer, viewer_of
from app.assignments import service as assignments
from app.comparisons import service as comparisons
from app.config import Settings
from app.domain.ranking import LETTERS
from app.domain.report import (
    EvidenceLevel,
    Report,
    Scope,
    Stage,
    StageName,
    StageStatus,
    SubmissionIdentity,
    TaskIdentity,
    Verdict,
    WorkloadResult,
)
from app.domain.review import Role
from app.evaluations import service as evaluations
from app.models import Evaluation, ReviewSlot, ReviewSubject, Submission, TaskVersion, User
from app.submissions import queries as submission_queries
from app.submissions import service as submissions
from app.submissions.service import NewSubmission
from app.tasks import service as tasks

_numbers = itertools.count(1)

TASK_TOML = """\
schema = 1
name = "{name}"
version = {version}
title = "Row softmax"
kind = "{kind}"
frameworks = ["triton", "torch"]
description = "Softmax over each row."

[[workloads]]
name = "small"
params = {{ rows = 4, cols = 8 }}

[[workloads]]
name = "secret-tail"
params = {{ rows = 4, cols = 7 }}
hidden = true
"""
REFERENCE = "def make_inputs(*, seed, rows, cols):\n    return ()\n\ndef reference(x):\n    return x\n"


def make_user(session: Session, *roles: Role, login: str | None = None, team: str = "", **overrides: Any) -> User:
    login = login or f"user{next(_numbers)}"
    user = accounts.create_user(session, login=login, name=login.title(), roles=roles or (Role.SUBMITTER,), team=team)
    for name, value in overrides.items():
        setattr(user, name, value)
    session.flush()
    return user


def make_viewer(session: Session, *roles: Role, **overrides: Any) -> Viewer:
    return viewer_of(make_user(session, *roles, **overrides))


def make_reviewer(session: Session, **overrides: Any) -> Viewer:
    return make_viewer(session, Role.REVIEWER, **overrides)


def task_tree(name: str = "row-softmax", version: int = 1, kind: str = "generation") -> dict[str, bytes]:
    toml = TASK_TOML.format(name=name, version=version, kind=kind)
    return {"task.toml": toml.encode(), "reference.py": REFERENCE.encode()}


def make_task(session: Session, settings: Settings, **overrides: Any) -> TaskVersion:
    return tasks.upload(session, settings, task_tree(**overrides), actor_id=None)


def make_submission(
    session: Session,
    settings: Settings,
    *,
    author: Viewer | None = None,
    task: TaskVersion | None = None,
    source: str | None = None,
    **overrides: Any,
) -> Submission:
    author = author or make_viewer(session)
    task = task or make_task(session, settings)
    source = source or f"import triton\n# {next(_numbers)}\n"
    new = NewSubmission(files={"solution.py": source.encode()}, task=task.public_id, **overrides)
    return submissions.submit(session, settings, author, new).submission


def make_report(verdict: Verdict = Verdict.ACCEPTED, **overrides: Any) -> Report:
    values: dict[str, Any] = {
        "verdict": verdict, "scope": Scope(EvidenceLevel.EMULATED, ("small", "secret-tail")), "headline": verdict.value,
        "task": TaskIdentity("row-softmax", 1, "0" * 64),
        "submission": SubmissionIdentity("1" * 64, "triton", ("solution.py",)), "mode": "interpreter:triton",
        "stages": (
            Stage(StageName.INSPECT, StageStatus.PASSED, 0.1), Stage(StageName.CORRECTNESS, StageStatus.PASSED, 1.0),
        ),
        "workloads": (
            WorkloadResult("small", "task", StageStatus.PASSED),
            WorkloadResult("secret-tail", "task", StageStatus.PASSED, hidden=True),
        ),
    }  # fmt: skip
    return dataclasses.replace(Report(**values), **overrides)


def make_evaluated(
    session: Session, settings: Settings, *, report: Report | None = None, **overrides: Any
) -> tuple[Submission, Evaluation, list[ReviewSlot]]:
    """A submission whose evaluation is done and whose review slots are open."""
    report = report or make_report()
    submission = make_submission(session, settings, **overrides)
    evaluation = evaluate(session, settings, submission, report)
    subject = submission_queries.subject_of(session, submission.id)
    return submission, evaluation, assignments.open_slots(session, settings, subject, report)


def make_comparison(
    session: Session, settings: Settings, *, count: int = 3, authors: Sequence[Viewer] = ()
) -> tuple[ReviewSubject, list[Submission]]:
    """Evaluated submissions to one task, open for ranking; each by somebody of their own where `authors` has none."""
    task = make_task(session, settings, name=f"compared-{next(_numbers)}")
    by = [*authors, *(None for _ in range(count - len(authors)))]
    members = [make_evaluated(session, settings, task=task, author=author)[0] for author in by]
    opener = make_viewer(session, Role.ADJUDICATOR)
    names = [member.public_id for member in members]
    return comparisons.open_comparison(session, settings, opener, task, names), members


def full_ranking(count: int = 3, **overrides: Any) -> dict[str, Any]:
    """A review of a comparison that lacks nothing: A before B, and so on."""
    letters = LETTERS[:count]
    ranks = {letter: rank for rank, letter in enumerate(letters, 1)}
    ranking = {"ranks": ranks, "strengths": ["clearly"] * (count - 1), "reason": "A masks its tail."}
    return {"ranking": ranking, "confidence": 2} | overrides


def evaluate(session: Session, settings: Settings, submission: Submission, report: Report) -> Evaluation:
    from app.evaluations import queries

    queued = queries.latest_of(session, submission.id)
    attempt = evaluations.claim(session, settings, queued.public_id, "test-worker")
    return evaluations.record(session, settings, attempt, report)


def full_content(**overrides: Any) -> dict[str, Any]:
    """A review of the shipped generation rubric that lacks nothing."""
    from app.rubrics import content, service

    rubric = content.read_yaml((service.DATA / "generation.yaml").read_text())
    scores = {c.key: {"level": 2 if 2 in c.levels else 3, "rationale": "", "evidence": []} for c in rubric.criteria}
    return {"scores": scores, "feedback": "Well made.", "decision": "accept", "confidence": 2} | overrides
