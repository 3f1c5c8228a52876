"""Submissions: source comes in, is checked, and becomes one immutable row that can be evaluated and reviewed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import inspect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.config import Settings
from app.domain.review import EvaluationState, Role, SubjectKind
from app.errors import Conflict, Gone, Invalid, NotFound
from app.evaluations import queries as evaluation_queries
from app.evaluations import service as evaluations
from app.kit import audit, trees
from app.kit.blobs import BlobStore
from app.models import Evaluation, ReviewSubject, SubjectAuthor, Submission, TaskVersion
from app.submissions import queries, sources
from app.tasks import queries as task_queries

TEXT_LENGTH_MAX = 100_000
MODEL_LENGTH_MAX = 20_000
TITLE_LENGTH_MAX = 200


@dataclass(frozen=True)
class NewSubmission:
    """What an author sends.  `parent` is the public id of the submission that this one revises."""

    files: trees.Tree
    task: str
    task_version: int | None = None
    framework: str | None = None
    title: str = ""
    model: dict[str, Any] = field(default_factory=dict)
    prompt: str = ""
    explanation: str = ""
    claims: list[Any] = field(default_factory=list)
    parent: str | None = None

    def fingerprint(self) -> str:
        """One hash for all that was sent, so that a repeated key is known to ask for the same."""
        rest = {k: v for k, v in vars(self).items() if k != "files"}
        return trees.tree_sha256({**self.files, "\0": json.dumps(rest, sort_keys=True).encode()})


@dataclass(frozen=True)
class Submitted:
    """`is_new` is False where the same bytes had been submitted before."""

    submission: Submission
    evaluation: Evaluation | None
    is_new: bool


def submit(session: Session, settings: Settings, viewer: Viewer, new: NewSubmission) -> Submitted:
    """Keep the source, open a subject for review, and ask for an evaluation, in one transaction."""
    submission, tree = _drafted(session, settings, viewer, new)
    if _is_kept(submission):
        return Submitted(submission, None, is_new=False)
    submission.files = trees.store_tree(BlobStore(settings.blobs_dir), tree)
    return _keep(session, submission)


def try_out(session: Session, settings: Settings, viewer: Viewer, new: NewSubmission) -> Submission | None:
    """Refuse what `submit` would refuse, and keep nothing: the earlier submission of the same bytes, or None."""
    submission, _ = _drafted(session, settings, viewer, new)
    return submission if _is_kept(submission) else None


def read_upload(settings: Settings, filename: str, data: bytes) -> trees.Tree:
    """One uploaded file as a tree: an archive is unpacked, anything else is a single source."""
    limits = trees.TreeLimits(settings.bundle_bytes_max, settings.bundle_files_max)
    if trees.looks_like_archive(filename):
        return trees.read_archive(data, limits)
    name = filename.replace("\\", "/").rpartition("/")[2] or "solution.py"
    return trees.check_tree({name: data}, limits)


def source_files(settings: Settings, submission: Submission) -> list[sources.SourceFile]:
    """Every file with its text, for pages and exports."""
    blobs = BlobStore(settings.blobs_dir)
    return [sources.show(f["path"], f["sha256"], blobs.get(f["sha256"])) for f in submission.files]


def texts(settings: Settings, submission: Submission) -> dict[str, str]:
    """Path -> text, of the files that have one."""
    return {f.path: f.text for f in source_files(settings, submission) if f.text is not None}


def materialise(settings: Settings, submission: Submission, folder: Path) -> Path:
    """Lay the source out for the judge: a single file is that file, several are the folder."""
    trees.lay_out(trees.load_tree(BlobStore(settings.blobs_dir), submission.files), folder)
    return folder / submission.files[0]["path"] if len(submission.files) == 1 else folder


def evaluate_again(session: Session, viewer: Viewer, submission: Submission, *, reason: str = "again") -> Evaluation:
    before = evaluation_queries.latest_of(session, submission.id)
    if before is not None and before.state in (EvaluationState.QUEUED, EvaluationState.RUNNING):
        raise Conflict("an evaluation is under way already", what_to_do="Wait until it has ended.")
    evaluation = evaluations.request_evaluation(session, submission.id, requested_by_id=viewer.id, reason=reason)
    audit.note(session, viewer.id, "evaluation.request", evaluation.public_id, reason=reason)
    return evaluation


def _drafted(session: Session, settings: Settings, viewer: Viewer, new: NewSubmission) -> tuple[Submission, trees.Tree]:
    """Everything checked: the submission to keep, still without its files, or the earlier one of the same bytes."""
    require_role(viewer, Role.SUBMITTER)
    version = _open_version(session, new)
    tree = _checked(settings, new)
    sha256 = trees.tree_sha256(tree)
    before = queries.same_bytes(session, author_id=viewer.id, task_version_id=version.id, sha256=sha256)
    if before is not None:
        return before, tree
    parent = _parent(session, viewer, version, new.parent)
    drafted = Submission(
        task_version_id=version.id, author_id=viewer.id, parent_id=parent.id if parent else None,
        revision=parent.revision + 1 if parent else 1, pseudonym=viewer.pseudonym, sha256=sha256,
        framework=sources.decide_framework(tree, new.framework, version.frameworks), files=[], model=new.model,
        prompt=new.prompt, explanation=new.explanation, claims=sources.read_claims(tree), title=new.title.strip(),
    )  # fmt: skip
    return drafted, tree


def _is_kept(submission: Submission) -> bool:
    return inspect(submission).persistent


def _open_version(session: Session, new: NewSubmission) -> TaskVersion:
    version = task_queries.find_version(session, new.task, new.task_version)
    if version.task.retired_at is not None:
        raise Gone(f"the task {version.task.name!r} is retired", what_to_do="Choose a task that is open.")
    return version


def _checked(settings: Settings, new: NewSubmission) -> trees.Tree:
    limits = trees.TreeLimits(settings.bundle_bytes_max, settings.bundle_files_max)
    tree = trees.check_tree(new.files, limits)
    sources.check_sources(tree, file_bytes_max=settings.file_bytes_max)
    if new.claims and sources.CLAIMS in tree:
        raise Invalid(
            f"there are claims in {sources.CLAIMS} and beside it",
            what_to_do="Send them in one place: leave the file out, or empty the field.",
        )
    if new.claims:
        # The judge reads claims from the source, and other claims make another submission.
        claims = json.dumps(new.claims, indent=1, sort_keys=True).encode()
        tree = trees.check_tree({**tree, sources.CLAIMS: claims}, limits)
    for name in ("prompt", "explanation"):
        if len(getattr(new, name)) > TEXT_LENGTH_MAX:
            raise Invalid(f"the {name} is longer than {TEXT_LENGTH_MAX} characters", what_to_do="Shorten it.")
    if len(new.title.strip()) > TITLE_LENGTH_MAX:
        raise Invalid(f"the title is longer than {TITLE_LENGTH_MAX} characters", what_to_do="Shorten it.")
    if len(json.dumps(new.model)) > MODEL_LENGTH_MAX:
        raise Invalid(
            f"what is said of the model is longer than {MODEL_LENGTH_MAX} characters",
            what_to_do="Name the model and its settings; the prompt has a field of its own.",
        )
    return tree


def _parent(session: Session, viewer: Viewer, version: TaskVersion, public_id: str | None) -> Submission | None:
    if not public_id:
        return None
    parent = queries.find(session, public_id)
    if parent.author_id != viewer.id:
        raise NotFound(f"there is no submission {public_id!r}")
    if parent.task_version.task_id != version.task_id:
        raise Invalid("the parent belongs to another task", what_to_do="Name a submission to the same task.")
    return parent


def _keep(session: Session, submission: Submission) -> Submitted:
    try:
        with session.begin_nested():
            session.add(submission)
            session.flush()
    except IntegrityError:
        # The same bytes came twice at once, and the other request was first.
        before = queries.same_bytes(
            session,
            author_id=submission.author_id,
            task_version_id=submission.task_version_id,
            sha256=submission.sha256,
        )
        if before is None:
            raise
        return Submitted(before, None, is_new=False)
    subject = ReviewSubject(
        kind=SubjectKind.SUBMISSION.value, submission_id=submission.id, task_version_id=submission.task_version_id,
        framework=submission.framework,
    )  # fmt: skip
    session.add(subject)
    session.flush()
    session.add(SubjectAuthor(subject_id=subject.id, user_id=submission.author_id))
    audit.note(session, submission.author_id, "submission.create", submission.public_id, sha256=submission.sha256)
    evaluation = evaluations.request_evaluation(session, submission.id, requested_by_id=submission.author_id)
    return Submitted(queries.find(session, submission.public_id), evaluation, is_new=True)
