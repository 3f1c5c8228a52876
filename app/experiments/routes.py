"""Pages of the bench: ask for an experiment, see them all, read one, propose one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn, role
from app.accounts.policy import Viewer
from app.domain.report import Report
from app.domain.review import EvaluationState, Role
from app.domain.task import VALUE_FAMILIES
from app.errors import NotFound, WorkbenchError
from app.evaluations import panels
from app.experiments import derived, policy, queries, service
from app.experiments.forms import TOLERANCES, BenchForm, parameters, read_bench_form
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Review
from app.reviews import queries as review_queries
from app.submissions import policy as submission_policy
from app.submissions import service as submissions

router = steps(include_in_schema=False)
CHANGEABLE_BYTES_MAX = 128 << 10  # a longer text makes a page that is slow to type in
Typed = Annotated[BenchForm, Depends(read_bench_form)]


@router.get("/reviews/{review_id}/bench")
def bench(request: Request, session: ReadSession, viewer: SignedIn, review_id: str) -> Response:
    review = queries.review_with_bench(session, viewer, review_id)
    return pages.render(request, "experiments/bench.html", _context(request, session, viewer, review), block="bench")


@router.get("/reviews/{review_id}/bench/history")
def history(request: Request, session: ReadSession, viewer: SignedIn, review_id: str) -> Response:
    """Only what came of the experiments, so that what is being typed stays."""
    review = queries.review_with_bench(session, viewer, review_id)
    context = _context(request, session, viewer, review)
    return pages.render_part(request, "experiments/bench.html", "history", context)


@router.post("/reviews/{review_id}/bench")
def run(request: Request, session: WriteSession, viewer: SignedIn, review_id: str, form: Typed) -> Response:
    review = review_queries.find_visible(session, viewer, review_id).review
    error = None
    try:
        with session.begin_nested():
            asked = form.asked(review.subject.task_version)
            service.request_experiment(session, request.app.state.settings, viewer, review, asked)
    except WorkbenchError as refused:
        error = refused
    is_fragment = pages.wants_fragment(request)
    if error is None and not is_fragment:
        return RedirectResponse(f"/reviews/{review_id}/bench#bench-history", 303)
    context = _context(request, session, viewer, review, fields=form.fields, error=error)
    # htmx leaves out what does not come with 200; the refusal is part of the fragment.
    status = error.status if error and not is_fragment else 200
    return pages.render(request, "experiments/bench.html", context, block="history", status=status)


@router.get("/experiments")
def proposed(
    request: Request, session: ReadSession, viewer: Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]
) -> Response:
    """What reviewers propose as hidden workloads; nothing of one's own submissions."""
    found = [one for one in queries.proposed(session) if queries.may_see(session, viewer, one.review)]
    shown = [(one, derived.workload_toml(one, f"proposed-{one.public_id[-6:].lower()}")) for one in found]
    return pages.render(request, "experiments/proposed.html", {"proposed": shown})


@router.get("/experiments/{experiment_id}")
def show(request: Request, session: ReadSession, viewer: SignedIn, experiment_id: str) -> Response:
    experiment = queries.find_visible(session, viewer, experiment_id)
    # What ran were the reviewer's own parameters: there is nothing hidden in it from who may see it.
    evidence = panels.for_viewer(Report.from_json(experiment.report), sees_hidden=True) if experiment.report else None
    submission = experiment.submission
    context = {
        "experiment": experiment, "evidence": evidence, "submission": submission, "task": submission.task_version,
        "changed": service.differences(request.app.state.settings, experiment),
        "may_propose": experiment.requested_by_id == viewer.id,
        "by": "you" if experiment.requested_by_id == viewer.id else _name(viewer, experiment.requested_by.name),
    }  # fmt: skip
    return pages.render(request, "experiments/page.html", context)


@router.post("/experiments/{experiment_id}/propose")
def propose(
    session: WriteSession, viewer: SignedIn, experiment_id: str, reason: Annotated[str, Form()] = ""
) -> Response:
    service.propose(session, viewer, queries.find_visible(session, viewer, experiment_id), reason=reason)
    return RedirectResponse(f"/experiments/{experiment_id}", 303)


def _name(viewer: Viewer, name: str) -> str:
    return name if viewer.is_staff else "another reviewer"


def _context(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    *,
    fields: dict[str, str] | None = None,
    error: WorkbenchError | None = None,
) -> dict[str, Any]:
    submission = queries.submission_of(session, review)
    if submission is None:
        raise NotFound("this subject has nothing to run")
    experiments = queries.history(session, review)
    files = submissions.source_files(request.app.state.settings, submission)
    return {
        "review": review,
        "task": review.subject.task_version,
        "may_run": policy.may_run(viewer, review),
        "experiments": experiments,
        "is_live": any(e.state in (EvaluationState.QUEUED, EvaluationState.RUNNING) for e in experiments),
        "parameters": parameters(review.subject.task_version),
        "targets": derived.targets(submission),
        "families": VALUE_FAMILIES,
        "tolerances": TOLERANCES,
        "sources": [f for f in files if f.text is not None and f.size_bytes <= CHANGEABLE_BYTES_MAX],
        "too_long": [f.path for f in files if f.text is not None and f.size_bytes > CHANGEABLE_BYTES_MAX],
        "fields": fields or {},
        "error": error,
        "author": submission_policy.author_label(viewer, submission),
    }
