"""A workbench's database with many subjects in it, by bulk insert: for measurements of the web side."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, text
from sqlalchemy.orm import Session

from app.accounts import service as accounts
from app.accounts.policy import viewer_of
from app.assignments import policy
from app.assignments.summary import summary_of
from app.config import Settings
from app.domain.report import (
    EvidenceLevel,
    Finding,
    OutputResult,
    Report,
    Scope,
    Severity,
    Stage,
    StageName,
    StageStatus,
    SubmissionIdentity,
    TaskIdentity,
    Tier,
    Verdict,
    WorkloadResult,
)
from app.domain.review import Role
from app.kit import auth, trees
from app.kit.blobs import BlobStore
from app.kit.db import Database
from app.models import (
    Evaluation,
    Review,
    ReviewSlot,
    ReviewSubject,
    RubricVersion,
    SubjectAuthor,
    Submission,
    TaskVersion,
    UserSession,
    new_public_id,
    utc_now,
)
from app.rubrics import service as rubrics
from app.supervisor import prepare
from app.tasks import service as tasks

REVIEWERS, AUTHORS, TEAMS = 16, 50, 10
SLOTS = 2
# One subject in ten has its first review already, so that there are started items to prefer.
STARTED_EVERY = 10
_ROWS_AT_ONCE = 5_000
KINDS = ("generation", "optimization", "translation", "debugging")
FRAMEWORKS = ("triton", "torch")
VERDICTS = (Verdict.ACCEPTED,) * 14 + (Verdict.WRONG_RESULT,) * 3 + (Verdict.INCONCLUSIVE,) * 2 + (Verdict.SUSPECT,)
SOURCE = b"import triton\n\n\ndef solution(x):\n    return x\n" + b"# a line of source\n" * 200
TASK = """\
schema = 1
name = "bench-{kind}"
version = 1
title = "Row softmax, {kind}"
kind = "{kind}"
frameworks = ["triton", "torch"]
description = "Softmax over each row."

[[workloads]]
name = "small"
params = {{ rows = 4, cols = 8 }}
"""
REFERENCE = b"def make_inputs(*, seed, rows, cols):\n    return ()\n\n\ndef reference(x):\n    return x\n"


@dataclass(frozen=True)
class Reviewer:
    """`cookie` opens pages, `token` the REST interface."""

    login: str
    cookie: str
    token: str


@dataclass(frozen=True)
class People:
    """What every subject is made of: ids, and the files of the one source there is."""

    authors: list[int]
    versions: list[int]
    files: list[dict[str, Any]]
    rubric: int
    past: int


@dataclass(frozen=True)
class Seen:
    """A report, with what is kept of it beside the subject."""

    report: Report
    reason: policy.Priority
    summary: dict[str, Any]

    @classmethod
    def of(cls, report: Report) -> Seen:
        return cls(report, policy.priority_of(report), summary_of(report))


def seed(settings: Settings, subjects: int) -> list[Reviewer]:
    """Migrate, and fill: people, four tasks, and `subjects` evaluated submissions with two slots each."""
    prepare.migrate(settings)
    database = Database(settings)
    with database.write() as session:
        rubrics.seed(session)
        reviewers = [_reviewer(session, settings, n) for n in range(REVIEWERS)]
        people = People(
            authors=[_author(session, n) for n in range(AUTHORS)],
            versions=[_task(session, settings, kind).id for kind in KINDS],
            files=trees.store_tree(BlobStore(settings.blobs_dir), {"solution.py": SOURCE}),
            rubric=session.scalars(select(RubricVersion.id).limit(1)).one(),
            past=accounts.create_user(session, login="past", name="Past", roles=[Role.REVIEWER]).id,
        )
        _fill(session, subjects, people)
    with database.engine.connect() as connection:
        if connection.dialect.name == "postgresql":  # a server does it by itself, some minutes later
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM ANALYZE"))
    database.close()
    return reviewers


def _fill(session: Session, subjects: int, people: People) -> None:
    draw = random.Random(subjects)  # noqa: S311 - nothing secret
    seen = {verdict: Seen.of(_report(verdict)) for verdict in set(VERDICTS)}
    for numbers in _batched(range(1, subjects + 1), _ROWS_AT_ONCE):
        rows: dict[Any, list[dict[str, Any]]] = {}
        for n in numbers:
            _add(rows, n, draw, seen[draw.choice(VERDICTS)], people)
        for model, values in rows.items():
            session.connection().execute(insert(model.__table__), values)
    _evaluate_all(session, seen)
    if session.get_bind().dialect.name == "postgresql":
        # Ids were given, so the sequences have to be told.
        for table in ("submissions", "review_subjects"):
            session.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {subjects})"))


def _add(
    rows: dict[Any, list[dict[str, Any]]],
    n: int,
    draw: random.Random,
    seen: Seen,
    people: People,
) -> None:
    author, version = draw.choice(people.authors), draw.choice(people.versions)
    now, reason, is_started = utc_now(), seen.reason, n % STARTED_EVERY == 0
    framework = draw.choice(FRAMEWORKS)

    def row(model: Any, **values: Any) -> None:
        if hasattr(model, "public_id"):
            values |= {"public_id": new_public_id(model.prefix), "created_at": now}
        rows.setdefault(model, []).append(values)

    row(
        Submission, id=n, task_version_id=version, author_id=author, pseudonym=f"author-{author}",
        sha256=secrets.token_hex(32), framework=framework, files=people.files, title=f"Kernel {n}",
    )  # fmt: skip
    row(
        ReviewSubject, id=n, kind="submission", submission_id=n, task_version_id=version, framework=framework,
        verdict=seen.report.verdict.value, summary=seen.summary, priority=reason.weight, why=reason.why, is_open=True,
        reviews_done=int(is_started), rank=policy.rank(reason.weight, int(is_started)),
    )  # fmt: skip
    row(SubjectAuthor, subject_id=n, user_id=author)
    for number in range(1, SLOTS + 1):
        is_done = is_started and number == 1
        row(
            ReviewSlot, subject_id=n, number=number, state="done" if is_done else "open", why="",
            holder_id=people.past if is_done else None, done_at=now if is_done else None,
        )  # fmt: skip
    if is_started:
        row(
            Review, subject_id=n, reviewer_id=people.past, rubric_version_id=people.rubric, state="submitted",
            scores={}, comments=[], feedback="Well made.", decision="accept", confidence=2, active_seconds=600,
            submitted_at=now,
        )  # fmt: skip


def _evaluate_all(session: Session, seen: dict[Verdict, Seen]) -> None:
    """One evaluation of each verdict as it is recorded, and copies of it made by the database."""
    for verdict, each in seen.items():
        first = session.scalars(
            select(ReviewSubject.submission_id).where(ReviewSubject.verdict == verdict).limit(1)
        ).first()
        if first is None:
            continue
        whole = Evaluation(
            submission_id=first, state="done", report=each.report.to_json(), verdict=verdict.value, progress=[]
        )
        session.add(whole)
        session.flush()
        copy = """
            INSERT INTO evaluations (public_id, created_at, submission_id, reason, state, sent_at, attempts, report,
                                     verdict, progress)
            SELECT 'evl_' || s.public_id, s.created_at, s.submission_id, e.reason, e.state, e.sent_at, e.attempts,
                   e.report, e.verdict, e.progress
            FROM review_subjects s JOIN evaluations e ON e.id = :whole
            WHERE s.verdict = e.verdict AND s.submission_id <> e.submission_id"""
        session.execute(text(copy), {"whole": whole.id})


def _report(verdict: Verdict) -> Report:
    """About the size and shape of a small kernel's report."""
    passed, names = StageStatus.PASSED, [f"workload-{n}" for n in range(6)]
    output = OutputResult(
        "out0", (4096, 128), "float32", ok=True, decided_by="budget", elements=4096 * 128, max_ulp=2.0,
        ulp_histogram=(0,) * 64, reference_ulp_histogram=(0,) * 64,
    )  # fmt: skip
    findings: tuple[Finding, ...] = ()
    if verdict is Verdict.SUSPECT:
        said = "the same bytes came back"
        findings = (Finding("integrity.cached_result", Severity.ERROR, StageName.INTEGRITY, said, tier=Tier.HARD),)
    return Report(
        verdict=verdict, scope=Scope(EvidenceLevel.EMULATED, tuple(names)), headline=verdict.value,
        task=TaskIdentity("bench-generation", 1, "0" * 64),
        submission=SubmissionIdentity("1" * 64, "triton", ("solution.py",)), mode="interpreter:triton",
        findings=findings,
        stages=tuple(Stage(name, passed, 0.1) for name in (StageName.INSPECT, StageName.CORRECTNESS)),
        workloads=tuple(
            WorkloadResult(name, "task", passed, outputs=(output,)) for name in names
        ),
    )  # fmt: skip


def _reviewer(session: Session, settings: Settings, n: int) -> Reviewer:
    user = accounts.create_user(session, login=f"reviewer{n}", name=f"Reviewer {n}", roles=[Role.REVIEWER])
    _, token = accounts.create_token(session, settings, viewer_of(user), name="bench", scopes=["read", "review"])
    # As signing in does, but for the password: hashing is slow on purpose, and measured by nobody here.
    secret, until = auth.new_token(), utc_now() + dt.timedelta(days=1)
    session.add(UserSession(user_id=user.id, token_hash=auth.hash_token(secret), expires_at=until))
    return Reviewer(user.login, auth.sign(secret, settings.signing_key, "session"), token)


def _author(session: Session, n: int) -> int:
    roles = [Role.SUBMITTER]
    return accounts.create_user(session, login=f"author{n}", name=f"A {n}", roles=roles, team=f"team{n % TEAMS}").id


def _task(session: Session, settings: Settings, kind: str) -> TaskVersion:
    tree = {"task.toml": TASK.format(kind=kind).encode(), "reference.py": REFERENCE}
    return tasks.upload(session, settings, tree, actor_id=None)


def _batched(numbers: range, size: int) -> Iterator[list[int]]:
    iterator = iter(numbers)
    while batch := list(itertools.islice(iterator, size)):
        yield batch
