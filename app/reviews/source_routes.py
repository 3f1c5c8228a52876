"""The source under review beside another: its revision before, its task's reference, baseline or buggy original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request, Response

from app.accounts.access import SignedIn
from app.accounts.policy import Viewer
from app.config import Settings
from app.domain.report import Report
from app.errors import NotFound
from app.evaluations import panels
from app.evaluations.precision import Record
from app.kit import pages
from app.kit.source import SourceFile, coloured_all
from app.kit.steps import ReadSession, steps
from app.models import Review, Submission
from app.reviews import files, queries
from app.submissions import comparing, display, parts
from app.submissions import policy as submission_policy
from app.submissions import queries as submission_queries
from app.submissions import service as submissions
from app.tasks import policy as task_policy
from app.tasks import service as tasks

router = steps(include_in_schema=False)
PARENT = "parent"


@dataclass(frozen=True)
class Choice:
    """Something to compare with: `key` stands in the address."""

    key: str
    title: str


@router.get("/reviews/{public_id}/source")
def compare_page(
    request: Request,
    session: ReadSession,
    viewer: SignedIn,
    public_id: str,
    *,
    against: str = "",
    file: str = "",
    view: str = "diff",
) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    submission = review.subject.submission
    if submission is None:
        raise NotFound("this review is of no submission", what_to_do="Its files are on the task's page.")
    settings = request.app.state.settings
    choices = choices_of(review, submission)
    chosen = next((c for c in choices if c.key == against), choices[0] if choices else None)
    texts = submissions.texts(settings, submission)
    name = file if file in texts else min(texts, default="")
    other = _other(session, settings, review, submission, chosen) if chosen else {}
    context = {
        "review": review, "task": review.subject.task_version, "choices": choices, "chosen": chosen, "view": view,
        "names": sorted(texts), "name": name,
        "diffs": _diffs(other, texts, name, chosen) if chosen and view == "diff" else [],
        "sides": sides(other, texts, name) if chosen and view != "diff" else [],
    }  # fmt: skip
    return pages.render(request, "reviews/source.html", context)


@router.get("/reviews/{public_id}/source/lines")
def more_lines(
    request: Request, session: ReadSession, viewer: SignedIn, public_id: str, *, file: str, start: int, end: int
) -> Response:
    """A part of a long file: rows for the gap that asked, or a page of its own."""
    review = queries.find_visible(session, viewer, public_id).review
    sources = source_files(request.app.state.settings, viewer, review)
    found = next((f for f in sources if f.name == file), None)
    if found is None:
        raise NotFound(f"there is no file {file!r} in what is reviewed here")
    evidence = evidence_for(viewer, review)
    context = {
        "review": review, "part": parts.part(found, start, end), "more": more_address(review),
        "at_lines": evidence.at_lines(file) if evidence else {},
    }  # fmt: skip
    return pages.render(request, "reviews/lines.html", context, block="rows")


def source_files(settings: Settings, viewer: Viewer, review: Review) -> list[SourceFile]:
    """In colour, as far as this viewer may see them."""
    if review.subject.submission is not None:
        return display.files_shown(settings, review.subject.submission)
    sees_hidden = task_policy.sees_hidden(viewer)
    return coloured_all(files.texts_of(settings, files.reviewed(review.subject), sees_hidden=sees_hidden).items())


def more_address(review: Review) -> str:
    return f"/reviews/{review.public_id}/source/lines"


def evidence_for(
    viewer: Viewer, review: Review, *, citable: bool = False, records: Mapping[str, Record] | None = None
) -> panels.Evidence | None:
    report = review.evaluation.report if review.evaluation else None
    submission = review.subject.submission
    if not report or submission is None:
        return None
    sees_hidden = submission_policy.sees_hidden(viewer, submission)
    return panels.for_viewer(Report.from_json(report), sees_hidden=sees_hidden, citable=citable, records=records)


def choices_of(review: Review, submission: Submission) -> list[Choice]:
    found = [Choice(PARENT, "the revision before")] if submission.parent_id else []
    paths = sorted(f["path"] for f in review.subject.task_version.files)
    return found + [Choice(path, path) for path in paths if path != files.TELLS_HIDDEN]


def _other(
    session: ReadSession, settings: Settings, review: Review, submission: Submission, chosen: Choice
) -> dict[str, str]:
    if chosen.key == PARENT:
        return submissions.texts(settings, submission_queries.ancestors_of(session, submission)[0])
    data = tasks.files_of(settings, review.subject.task_version)[chosen.key]
    return {chosen.key: data.decode("utf-8", "replace")}


def _diffs(other: dict[str, str], files: dict[str, str], name: str, chosen: Choice) -> list[comparing.FileDiff]:
    if chosen.key == PARENT:
        return comparing.pairs(other, files)
    return [comparing.compare((path, text), (name, files.get(name, ""))) for path, text in other.items()]


def sides(other: dict[str, str], files: dict[str, str], name: str) -> list[SourceFile]:
    """The other text and this one, each whole; of a revision before, the file of the same name."""
    left = (name, other[name]) if name in other else next(iter(other.items()))
    return [coloured_all([left])[0], coloured_all([(name, files.get(name, ""))])[0]]
