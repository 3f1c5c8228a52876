"""Comments on lines: what they point at, what is wrong with where they point, and what became of earlier ones.

The source of a submission never changes, so the lines a comment is about are read from it and kept nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.config import Settings
from app.domain.review import ReviewState
from app.domain.rubric import Rubric
from app.models import Review, Submission, TaskVersion
from app.reviews import queries
from app.reviews.files import Reviewed, paths_of, sources_of
from app.reviews.scoring import CommentContent, DraftComment, ReviewContent
from app.submissions import queries as submission_queries
from app.submissions.differences import ported

SNIPPET_LINES_MAX = 100

# Path -> its lines, as the source view numbers them.
Sources = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class PlacedComment:
    """A comment with the lines that it is about; `start` is None for one on a whole file or on everything."""

    content: DraftComment
    path: str | None
    start: int | None
    end: int | None
    snippet: str

    @property
    def place(self) -> str:
        """`solution.py:12-14`; empty for a comment on everything."""
        if self.start is None:
            return self.path or ""
        lines = str(self.start) if self.end in (None, self.start) else f"{self.start}-{self.end}"
        return f"{self.path}:{lines}"


@dataclass(frozen=True)
class EarlierComment:
    """One on an earlier revision: where its lines are now, or None as `now` where they are gone.

    `key` names it for good, whatever is said on that revision later.
    """

    key: str
    before: PlacedComment
    now: PlacedComment | None
    revision: int
    label: str

    @property
    def is_outdated(self) -> bool:
        return self.now is None


def placed(comment: Mapping[str, Any], sources: Sources) -> PlacedComment:
    content = DraftComment.model_validate(dict(comment))
    start, end = content.line, content.end_line or content.line
    if content.path is None or start is None or end is None:
        return PlacedComment(content, content.path, None, None, "")
    start, end = min(start, end), max(start, end)
    return PlacedComment(content, content.path, start, end, _snippet(sources.get(content.path, [])[start - 1 : end]))


def by_line(comments: Iterable[PlacedComment]) -> dict[str, dict[int, list[PlacedComment]]]:
    """Path -> last line -> comments to show below it."""
    found: dict[str, dict[int, list[PlacedComment]]] = {}
    for comment in comments:
        if comment.path and comment.end:
            found.setdefault(comment.path, {}).setdefault(comment.end, []).append(comment)
    return found


def problems(settings: Settings, rubric: Rubric, given: ReviewContent, what: Reviewed) -> dict[str, str]:
    """What keeps comments from being published, under `comments`: each fault names its comment."""
    criteria = {c.key for c in rubric.criteria}
    paths = paths_of(what)
    sources = sources_of(settings, what) if any(c.line for c in given.comments) else {}
    whose = "the task" if isinstance(what, TaskVersion) else "the submission"
    faults = []
    for number, comment in enumerate(given.comments, 1):
        place = _misplaced(comment, paths, sources, whose)
        faults += [f"comment {number} {place}"] if place else []
        if comment.criterion is not None and comment.criterion not in criteria:
            faults.append(f"comment {number} speaks for {comment.criterion}, which this rubric does not ask")
    return {"comments": "; ".join(faults)} if faults else {}


def earlier(session: Session, settings: Settings, viewer: Viewer, submission: Submission) -> list[EarlierComment]:
    """What this viewer may read of what was said on the revisions before, each where its lines are now."""
    sources = sources_of(settings, submission)
    found: list[EarlierComment] = []
    for ancestor in submission_queries.ancestors_of(session, submission):
        subject = submission_queries.subject_of(session, ancestor.id)
        reviews = queries.standing(queries.visible_reviews(session, viewer, subject.id)) if subject else []
        before = sources_of(settings, ancestor) if reviews else {}
        for seen in reviews:
            for number, comment in enumerate(_comments_of(session, seen.review), 1):
                old, key = placed(comment, before), f"{seen.review.public_id}.{number}"
                found.append(EarlierComment(key, old, _now(old, before, sources), ancestor.revision, seen.label))
    return found


def carried(earlier_one: EarlierComment) -> dict[str, Any]:
    """The comment as one of a new draft: at its lines of now, or with the lines that are gone quoted in it."""
    content = earlier_one.before.content.model_dump()
    # Cells name the evidence of the run before, and this is another.
    content["evidence"] = []
    if earlier_one.now is not None:
        return content | {"path": earlier_one.now.path, "line": earlier_one.now.start, "end_line": earlier_one.now.end}
    before = earlier_one.before
    quoted = "\n".join(f"    {line}" for line in before.snippet.split("\n"))
    about = f"On revision {earlier_one.revision}, {before.place}, which is gone:\n\n{quoted}\n\n{content['body']}"
    return content | {"path": None, "line": None, "end_line": None, "body": about}


def _misplaced(comment: CommentContent, paths: Collection[str], sources: Sources, whose: str) -> str:
    """Why the comment stands nowhere; empty where it stands."""
    path, line, end = comment.path, comment.line, comment.end_line
    if path is None:
        return "names a line and no file" if line or end else ""
    if path not in paths:
        return f"names {path}, which is not in {whose}"
    if line is None:
        return f"names a last line ({end}) and no first" if end else ""
    if path not in sources:
        return f"names a line of {path}, which is not text: speak of the whole file"
    if end is not None and end < line:
        return f"ends on line {end}, before it starts on line {line}"
    last, count = end or line, len(sources[path])
    return f"is on line {last} of {path}, which has {count} line{'s' if count > 1 else ''}" if last > count else ""


def _snippet(lines: Sequence[str]) -> str:
    left = len(lines) - SNIPPET_LINES_MAX
    return "\n".join([*lines[:SNIPPET_LINES_MAX], *([f"({left} more lines)"] if left > 0 else [])])


def _comments_of(session: Session, review: Review) -> Sequence[Mapping[str, Any]]:
    """Of a draft, what was typed so far: `visible_reviews` gives no draft but one's own."""
    if review.state == ReviewState.SUBMITTED:
        return review.comments
    return list(queries.draft_of(session, review).content.get("comments", []))


def _now(old: PlacedComment, before: Sources, sources: Sources) -> PlacedComment | None:
    """In the same file, else in the one other file where the lines now are."""
    if old.path is None:
        return old
    if old.start is None or old.end is None:
        return old if old.path in sources else None
    homes = [old.path] if old.path in sources else [path for path in sources if path not in before]
    places = [(path, ported(before.get(old.path, []), sources[path], old.start, old.end)) for path in homes]
    found = [(path, lines) for path, lines in places if lines is not None]
    if len(found) != 1:
        return None
    path, (start, end) = found[0]
    return PlacedComment(old.content, path, start, end, old.snippet)
