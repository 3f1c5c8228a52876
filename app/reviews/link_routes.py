"""Source and target side by side: a reviewer links their ranges, everybody who may read the review sees them."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.accounts import keys
from app.accounts import queries as account_queries
from app.accounts.access import SignedIn
from app.accounts.policy import Viewer
from app.domain.review import ReviewState
from app.errors import Invalid, NotFound, WorkbenchError
from app.kit import pages
from app.kit.source import coloured_all
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Review
from app.reviews import comments, files, links, queries, scoring, service
from app.reviews.forms import LINK_FIELDS, link_of

router = steps(include_in_schema=False)
RIGHT = "new-"


async def read_link_form(request: Request) -> dict[str, str]:
    form = await request.form()
    return {name: str(form.get(name, "")).replace("\r\n", "\n") for name in LINK_FIELDS}


Typed = Annotated[dict[str, str], Depends(read_link_form)]
Text = Annotated[str, Form()]


@router.get("/reviews/{public_id}/links")
def links_page(
    request: Request, session: ReadSession, viewer: SignedIn, public_id: str, *, left: str = "", right: str = ""
) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    return _page(request, session, viewer, review, left, right)


@router.post("/reviews/{public_id}/links")
def add_link(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, typed: Typed) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    _sources(request, review)
    try:
        added = _checked(request, review, typed)
        service.change_links(session, viewer, review, lambda made: [*made, added])
    except Invalid as error:
        shown = typed["left_path"], typed["right_path"]
        return _page(request, session, viewer, review, *shown, typed=typed, error=error)
    return _back(public_id, typed["left_path"], typed["right_path"])


@router.post("/reviews/{public_id}/links/{number}/remove")
def remove_link(
    session: WriteSession,
    viewer: SignedIn,
    public_id: str,
    number: int,
    *,
    digest: Text = "",
    left: Text = "",
    right: Text = "",
) -> Response:
    """Only the link that was seen under this number: another page may have removed one before it."""
    review = queries.find_visible(session, viewer, public_id).review
    service.change_links(
        session,
        viewer,
        review,
        lambda made: [one.raw for one in links.numbered(made) if (one.number, one.digest) != (number, digest)],
    )
    return _back(public_id, left, right)


def _checked(request: Request, review: Review, typed: dict[str, str]) -> dict[str, Any]:
    data = link_of(typed)
    if data["left_start"] is None:
        raise Invalid("the first line of the source is missing", what_to_do="Give it as a number from 1.")
    given = scoring.read({"links": [data]}).links[0]
    if why := links.fault(given, *_sources(request, review)):
        raise Invalid(f"the link {why}", what_to_do="Correct the numbers.")
    return given.model_dump(mode="json")


def _page(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    left: str,
    right: str,
    *,
    typed: dict[str, str] | None = None,
    error: WorkbenchError | None = None,
) -> Response:
    lefts, rights = _sources(request, review)
    is_mine = review.state == ReviewState.DRAFT and review.reviewer_id == viewer.id
    made = links.numbered(queries.draft_of(session, review).content.get("links", []) if is_mine else review.links)
    left = left if left in lefts else _first(made, "left_path", lefts)
    right = right if right in rights else _first(made, "right_path", rights)
    sides = [coloured_all([(name, "\n".join(texts[name]))])[0] for name, texts in ((left, lefts), (right, rights))]
    context = {
        "review": review, "task": review.subject.task_version, "is_mine": is_mine, "links": made,
        "lefts": sorted(lefts), "rights": sorted(rights), "left": left, "right": right, "sides": sides, "prefix": RIGHT,
        "key_of": keys.by_action(account_queries.keys_of(session, viewer.id), keys.LINKS),
        "fates": tuple(scoring.Fate), "typed": typed or dict.fromkeys(LINK_FIELDS, ""), "error": error,
        "left_marks": links.marks(made, "left", left, right, RIGHT + sides[1].anchor),
        "right_marks": links.marks(made, "right", right, left, sides[0].anchor),
        "tables": links.tables(made, lefts, sorted({left} | {one.content.left_path for one in made} & set(lefts))),
    }  # fmt: skip
    return pages.render(request, "reviews/links.html", context, status=error.status if error else 200)


def _sources(request: Request, review: Review) -> tuple[comments.Sources, comments.Sources]:
    """Of the task and of the submission; raises `NotFound` where one of them has no text."""
    settings = request.app.state.settings
    lefts = links.task_sources(settings, review.subject.task_version)
    rights = files.sources_of(settings, review.subject.submission)
    if not rights or not lefts:
        raise NotFound("there is nothing to link", what_to_do="This review is of no submission, or of none with text.")
    return lefts, rights


def _first(made: list[links.Link], side: str, sources: comments.Sources) -> str:
    """The file that was linked last, else the first; what a translation translates is seldom `reference.py`."""
    linked = [path for one in reversed(made) if (path := getattr(one.content, side)) in sources]
    return linked[0] if linked else min(sources, key=lambda path: (path == "reference.py", path))


def _back(public_id: str, left: str, right: str) -> Response:
    return RedirectResponse(f"/reviews/{public_id}/links?{urlencode({'left': left, 'right': right})}", 303)
