"""A member's source: the rest of a long file, and beside another member or a file of the task."""

from __future__ import annotations

from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn
from app.accounts.policy import Viewer
from app.config import Settings
from app.errors import NotFound
from app.kit import pages
from app.kit.steps import ReadSession, steps
from app.models import Review, ReviewMember
from app.reviews import files, members, queries, ranking
from app.reviews.source_routes import Choice, sides
from app.submissions import comparing, parts
from app.submissions import service as submissions

router = steps(include_in_schema=False)


@router.get("/reviews/{public_id}/members/{letter}/source")
def compare_page(
    request: Request,
    session: ReadSession,
    viewer: SignedIn,
    public_id: str,
    letter: str,
    *,
    against: str = "",
    file: str = "",
    view: str = "diff",
) -> Response:
    review, found, others = _member(session, viewer, public_id, letter)
    settings, task = request.app.state.settings, review.subject.task_version
    references = files.task_texts(settings, task, sees_hidden=False)
    choices = [Choice(other.letter, other.letter) for other in others] + [Choice(name, name) for name in references]
    chosen = next((choice for choice in choices if choice.key == against), choices[0])
    texts = submissions.texts(settings, found.submission)
    name = file if file in texts else min(texts, default="")
    other = _texts_of(settings, others, chosen.key) or {chosen.key: references.get(chosen.key, "")}
    context = {
        "review": review, "task": task, "letter": letter, "choices": choices, "chosen": chosen, "view": view,
        "names": sorted(texts), "name": name, "diffs": _diffs(other, texts, name) if view == "diff" else [],
        "sides": sides(other, texts, name) if view != "diff" else [],
    }  # fmt: skip
    return pages.render(request, "reviews/source.html", context)


@router.get("/reviews/{public_id}/members/{letter}/lines")
def more_lines(
    request: Request,
    session: ReadSession,
    viewer: SignedIn,
    public_id: str,
    letter: str,
    *,
    file: str,
    start: int,
    end: int,
) -> Response:
    """A part of a long file: rows for the gap that asked, or a page of its own."""
    review, found, _ = _member(session, viewer, public_id, letter)
    member = members.shown(request.app.state.settings, viewer, found)
    source = next((f for f in member.files if f.name == file), None)
    if source is None:
        raise NotFound(f"{letter} has no file {file!r}")
    context = {
        "review": review, "part": parts.part(source, start, end), "prefix": member.prefix,
        "more": more_address(review, letter), "at_lines": member.at_lines(file),
    }  # fmt: skip
    return pages.render(request, "reviews/lines.html", context, block="rows")


def more_address(review: Review, letter: str) -> str:
    return f"/reviews/{review.public_id}/members/{letter}/lines"


def _member(
    session: Session, viewer: Viewer, public_id: str, letter: str
) -> tuple[Review, ReviewMember, list[ReviewMember]]:
    """The review, the member of that letter, and the others of it."""
    review = queries.find_visible(session, viewer, public_id).review
    there = ranking.members_of(session, review)
    found = next((member for member in there if member.letter == letter), None)
    if found is None:
        raise NotFound(f"there is no {letter!r} in this review")
    return review, found, [member for member in there if member is not found]


def _texts_of(settings: Settings, others: list[ReviewMember], letter: str) -> dict[str, str]:
    other = next((member for member in others if member.letter == letter), None)
    return submissions.texts(settings, other.submission) if other is not None else {}


def _diffs(other: dict[str, str], texts: dict[str, str], name: str) -> list[comparing.FileDiff]:
    """File by file where they share a name; else the one file beside the one chosen."""
    if other.keys() & texts.keys():
        return comparing.pairs(other, texts)
    return [comparing.compare((path, text), (name, texts.get(name, ""))) for path, text in other.items()]
