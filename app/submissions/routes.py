"""Pages of submissions: upload, the list, and one submission with its stages as they happen."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse

from app.accounts.access import SignedIn, role
from app.accounts.policy import Viewer
from app.domain.report import VERDICT_TITLES, Report
from app.domain.review import EvaluationState, Role
from app.domain.task import FRAMEWORKS
from app.errors import WorkbenchError
from app.evaluations import panels, precision
from app.evaluations import queries as evaluation_queries
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Evaluation, Submission
from app.submissions import claim_fields, display, policy, queries, service
from app.submissions.forms import UploadForm, read_upload_form
from app.tasks import queries as task_queries

router = steps(include_in_schema=False)
# Asked before the form is shown: nobody should fill it in to be told that it is not theirs.
Submitter = Annotated[Viewer, Depends(role(Role.SUBMITTER))]
Filters = Annotated[queries.SubmissionFilters, Depends()]
_LIVE = (EvaluationState.QUEUED, EvaluationState.RUNNING)


@router.get("/submissions")
def submissions(
    request: Request,
    session: ReadSession,
    viewer: SignedIn,
    filters: Filters,
    mine: str = "",
    cursor: str | None = None,
) -> Response:
    sees_others = viewer.has(Role.REVIEWER, Role.ADJUDICATOR)
    if sees_others and not mine:
        page = queries.list_all(session, filters, cursor=cursor)
    else:
        page = queries.list_of_author(session, viewer.id, filters, cursor=cursor)
    chosen = {k: v for k, v in (*vars(filters).items(), ("mine", mine)) if v}
    context = {
        "page": page, "evaluations": evaluation_queries.latest_by_submission(session, [s.id for s in page.items]),
        "tasks": task_queries.list_current(session, include_retired=True), "filters": filters, "mine": mine,
        "sees_others": sees_others, "may_submit": viewer.has(Role.SUBMITTER),
        "frameworks": FRAMEWORKS, "states": list(EvaluationState),
        "verdicts": VERDICT_TITLES,
        "labels": {s.id: policy.author_label(viewer, s, s.author.name) for s in page.items},
        "query": urlencode(chosen),
    }  # fmt: skip
    return pages.render(request, "submissions/list.html", context)


@router.get("/submissions/new")
def upload_page(
    request: Request, session: ReadSession, viewer: Submitter, task: str = "", parent: str = ""
) -> Response:
    return _upload_page(request, session, UploadForm(task=task, parent=parent))


@router.post("/submissions/new")
def upload(
    request: Request, session: WriteSession, viewer: Submitter, form: Annotated[UploadForm, Depends(read_upload_form)]
) -> Response:
    settings = request.app.state.settings
    try:
        new = form.new(settings)  # unpacked before the transaction: others must not wait for it
        with session.begin_nested():
            done = service.submit(session, settings, viewer, new)
    except WorkbenchError as error:
        return _upload_page(request, session, form.with_file_in_box(), error)
    suffix = "" if done.is_new else "?again=1"
    return RedirectResponse(f"/submissions/{done.submission.public_id}{suffix}", 303)


@router.get("/submissions/{public_id}")
def submission_page(
    request: Request, session: ReadSession, viewer: SignedIn, public_id: str, again: str = ""
) -> Response:
    submission = queries.find(session, public_id, viewer)
    evaluation = evaluation_queries.latest_of(session, submission.id)
    return pages.render(
        request,
        "submissions/page.html",
        _page_context(request, session, viewer, submission, evaluation, again),
        block="live",
    )


@router.post("/submissions/{public_id}/evaluate")
def evaluate_again(session: WriteSession, viewer: SignedIn, public_id: str) -> Response:
    service.evaluate_again(session, viewer, queries.find(session, public_id, viewer))
    return RedirectResponse(f"/submissions/{public_id}", 303)


def _page_context(
    request: Request,
    session: ReadSession,
    viewer: Viewer,
    submission: Submission,
    evaluation: Evaluation | None,
    again: str,
) -> dict[str, Any]:
    report = Report.from_json(evaluation.report) if evaluation and evaluation.report else None
    sees_hidden, records = policy.sees_hidden(viewer, submission), precision.records(session)
    evidence = panels.for_viewer(report, sees_hidden=sees_hidden, records=records) if report else None
    files = display.files_shown(request.app.state.settings, submission)
    return {
        "submission": submission, "evaluation": evaluation, "evidence": evidence, "files": files,
        "anchors": {f.name: f.anchor for f in files}, "stages": display.stages_shown(evaluation),
        "is_live": evaluation is not None and evaluation.state in _LIVE,
        "author": policy.author_label(viewer, submission, submission.author.name), "again": again,
        "is_author": submission.author_id == viewer.id,
        "revisions": queries.revisions_of(session, submission) if policy.knows_author(viewer, submission) else [],
        "evaluations": evaluation_queries.list_of(session, submission.id),
    }  # fmt: skip


def _upload_page(
    request: Request, session: ReadSession, form: UploadForm, error: WorkbenchError | None = None
) -> Response:
    context = {
        "form": form, "error": error, "field": form.field_of(error) if error else "", "frameworks": FRAMEWORKS,
        "tasks": task_queries.list_current(session), "error_titles": claim_fields.ERROR_TITLES,
    }  # fmt: skip
    return pages.render(request, "submissions/new.html", context, status=error.status if error else 200)
