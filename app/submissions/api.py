"""Submissions over REST: send one, see one, list one's own."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request, Response
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.evaluations import queries as evaluation_queries
from app.kit import idempotency
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Evaluation, Submission
from app.submissions import policy, queries, service
from app.submissions.incoming import OPENAPI, Incoming, read_incoming
from app.submissions.service import NewSubmission

router = steps(prefix="/submissions", tags=["submissions"])
Reader = Annotated[Viewer, Depends(scope("read"))]
Submitter = Annotated[Viewer, Depends(scope("submit"))]
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]


class EvaluationRef(BaseModel):
    id: str
    state: str
    verdict: str | None


class SubmissionOut(BaseModel):
    id: str
    task: str
    task_version: int
    author: str
    framework: str
    sha256: str
    revision: int
    parent: str | None
    title: str
    created_at: dt.datetime
    files: list[dict[str, Any]]
    evaluations: list[EvaluationRef]
    url: str


class SubmissionPage(BaseModel):
    items: list[SubmissionOut]
    next_cursor: str | None


@router.post(
    "",
    status_code=201,
    openapi_extra=OPENAPI,
    responses={200: {"description": "The same bytes had been submitted before."}},
)
def create_submission(
    request: Request,
    response: Response,
    session: WriteSession,
    viewer: Submitter,
    incoming: Annotated[Incoming, Depends(read_incoming)],
    idempotency_key: IdempotencyKey = None,
) -> SubmissionOut:
    """Submit source as JSON, or a file or an archive as a form.

    The same bytes again give the same submission, with status 200.
    """
    return _submit(request, response, session, viewer, incoming.new(request.app.state.settings), idempotency_key)


@router.get("")
def list_submissions(
    request: Request,
    session: ReadSession,
    viewer: Reader,
    filters: Annotated[queries.SubmissionFilters, Depends()],
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SubmissionPage:
    """Reviewers see all, everybody else their own; newest first."""
    if viewer.has(Role.REVIEWER, Role.ADJUDICATOR):
        page = queries.list_all(session, filters, cursor=cursor, limit=limit)
    else:
        page = queries.list_of_author(session, viewer.id, filters, cursor=cursor, limit=limit)
    newest = evaluation_queries.latest_by_submission(session, [s.id for s in page.items])
    items = [_as_out(request, viewer, s, [newest[s.id]] if s.id in newest else []) for s in page.items]
    return SubmissionPage(items=items, next_cursor=page.next_cursor)


@router.get("/{submission_id}")
def show_submission(request: Request, session: ReadSession, viewer: Reader, submission_id: str) -> SubmissionOut:
    submission = queries.find(session, submission_id, viewer)
    return _as_out(request, viewer, submission, list(evaluation_queries.list_of(session, submission.id)))


def _submit(
    request: Request, response: Response, session: WriteSession, viewer: Viewer, new: NewSubmission, key: str | None
) -> SubmissionOut:
    fingerprint = new.fingerprint()
    if (before := idempotency.recall(session, viewer.id, key, fingerprint)) is not None:
        response.status_code = before.status
        return SubmissionOut.model_validate(before.body)
    done = service.submit(session, request.app.state.settings, viewer, new)
    response.status_code = 201 if done.is_new else 200
    response.headers["Location"] = f"/api/v1/submissions/{done.submission.public_id}"
    evaluations = list(evaluation_queries.list_of(session, done.submission.id))
    out = _as_out(request, viewer, done.submission, evaluations)
    idempotency.remember(session, viewer.id, key, fingerprint, response.status_code, out.model_dump(mode="json"))
    return out


def _as_out(request: Request, viewer: Viewer, submission: Submission, evaluations: list[Evaluation]) -> SubmissionOut:
    version = submission.task_version
    knows = policy.knows_author(viewer, submission)
    return SubmissionOut(
        id=submission.public_id, task=version.task.name, task_version=version.version,
        author=policy.author_label(viewer, submission, submission.author.name if knows else None),
        framework=submission.framework, sha256=submission.sha256, revision=submission.revision,
        parent=submission.parent.public_id if submission.parent else None,
        title=submission.title, created_at=submission.created_at, files=submission.files,
        evaluations=[EvaluationRef(id=e.public_id, state=e.state, verdict=e.verdict) for e in evaluations],
        url=f"{request.app.state.settings.base_url}/submissions/{submission.public_id}",
    )  # fmt: skip
