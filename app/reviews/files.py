"""The files of what is under review: a submission's source, or the bundle of a task."""

from __future__ import annotations

from app.config import Settings
from app.domain.review import SubjectKind
from app.models import ReviewSubject, Submission, TaskVersion
from app.submissions import service as submissions
from app.submissions.differences import lines_of
from app.tasks import service as tasks

# What has files of its own; a comparison has none.
Reviewed = Submission | TaskVersion | None
# Names the hidden workloads.
TELLS_HIDDEN = "task.toml"
_FIRST = ("reference.py", TELLS_HIDDEN)


def reviewed(subject: ReviewSubject) -> Reviewed:
    """With the subject's own relations loaded."""
    return subject.submission or (subject.task_version if is_design(subject) else None)


def is_design(subject: ReviewSubject) -> bool:
    return subject.kind == SubjectKind.TASK_VERSION


def texts_of(settings: Settings, what: Reviewed, *, sees_hidden: bool = True) -> dict[str, str]:
    """Path -> text, in the order in which they are read; binaries have none."""
    if isinstance(what, Submission):
        return submissions.texts(settings, what)
    return task_texts(settings, what, sees_hidden=sees_hidden) if what is not None else {}


def task_texts(settings: Settings, version: TaskVersion, *, sees_hidden: bool) -> dict[str, str]:
    tree = tasks.files_of(settings, version)
    shown = [path for path in tree if b"\0" not in tree[path] and (sees_hidden or path != TELLS_HIDDEN)]
    shown.sort(key=lambda path: (_FIRST.index(path) if path in _FIRST else len(_FIRST), path))
    return {path: tree[path].decode("utf-8", "replace") for path in shown}


def sources_of(settings: Settings, what: Reviewed, *, sees_hidden: bool = True) -> dict[str, list[str]]:
    """Every text in lines, as the source view numbers them."""
    return {path: lines_of(text) for path, text in texts_of(settings, what, sees_hidden=sees_hidden).items()}


def paths_of(what: Reviewed) -> set[str]:
    """Everything that a comment may name, binaries too."""
    return {f["path"] for f in what.files} if what is not None else set()
