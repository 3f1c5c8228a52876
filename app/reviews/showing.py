"""What the pages of a review show: the draft with its problems, or what was submitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.accounts import keys
from app.accounts import queries as account_queries
from app.accounts.policy import Viewer
from app.domain.report import Report
from app.domain.review import DESIGN_DECISIONS, CommentCategory, CommentSeverity, ReviewState, SlotState
from app.domain.rubric import total
from app.domain.task_health import TaskHealth
from app.errors import WorkbenchError
from app.evaluations import panels, precision
from app.evaluations.task_health import health_of
from app.kit import pages
from app.models import Review, TaskVersion
from app.reviews import (
    comments,
    designs,
    differing,
    feedback,
    files,
    hints,
    links,
    page,
    policy,
    queries,
    questions,
    ranking_page,
    revisions,
    scoring,
    service,
    variables,
)
from app.reviews.source_routes import PARENT, choices_of, evidence_for, more_address, source_files
from app.rubrics import queries as rubric_queries
from app.rubrics.content import RubricContent, as_rubric
from app.submissions import parts
from app.submissions import policy as submission_policy
from app.submissions import queries as submission_queries
from app.submissions import service as submissions
from app.submissions.differences import changed
from app.tasks import policy as task_policy


def draft_page(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    content: dict[str, Any],
    version: int,
    *,
    error: WorkbenchError | None = None,
    other: service.Saved | None = None,
) -> Response:
    """`other` is what another page saved meanwhile: shown beside this text, which a save now puts in its place."""
    if other is not None and other.conflict is None:
        other = None
    problems = error.details.get("problems", {}) if error else {}
    if review.is_ranking:
        template, asked = "reviews/ranking.html", ranking_page.draft_context(request, session, viewer, review, content)
    else:
        template = "reviews/design.html" if files.is_design(review.subject) else "reviews/page.html"
        asked = _scores_context(request, session, viewer, review, content, problems)
    context = asked | {
        **_conflict(session, review, content, other), **_keys(session, viewer), "review": review, "draft": content,
        "version": version, "error": error, "problems": problems, "confidences": page.CONFIDENCES,
        "token": _token(viewer, review), "lease_until": _lease(viewer, review),
        "corrected": queries.find(session, review.supersedes.public_id) if review.supersedes else None,
    }  # fmt: skip
    return pages.render(request, template, context, status=error.status if error else 409 if other else 200)


def _scores_context(
    request: Request, session: Session, viewer: Viewer, review: Review, content: dict[str, Any], problems: Any
) -> dict[str, Any]:
    """What the form of a rubric asks, beside the evidence."""
    typed = _placed(request, viewer, review, content.get("comments", []))
    shown = _evidence_context(request, session, viewer, review, comments.by_line(typed))
    rulings = _rulings(session, viewer, review, content)
    return shown | {
        "answers": _answers(request, session, viewer, review, shown),
        "typed_comments": [c.content for c in typed],
        "links": links.numbered(content.get("links", [])),
        "titles": page.titles_of(review.rubric),
        # All of them are figures of a submission's report.
        "variables": [] if shown["design"] else variables.values(report_for_author(review)),
        "hints": hints_on(session, viewer, review, content),
        "newer_evidence": service.newer_evidence(session, review),
        "earlier": earlier(request, session, viewer, review),
        "severities": tuple(CommentSeverity),
        "categories": tuple(CommentCategory),
        "criteria": criteria(review, viewer, content.get("scores", {}), problems, rulings, design=shown["design"]),
        "newer_rubric": service.newer_rubric(session, review),
        "decisions": DESIGN_DECISIONS if shown["design"] else page.DECISIONS,
        "contests": queries.contests_by(session, review),
    }


def conflict_shown(
    request: Request, session: Session, review: Review, content: dict[str, Any], other: service.Saved
) -> str:
    """The same comparison by itself, for the page of a browser that saves as one types."""
    context = _conflict(session, review, content, other) | {"review": review}
    return bytes(pages.render_part(request, "reviews/page.html", "conflict", context).body).decode()


def read_context(request: Request, session: Session, viewer: Viewer, review: Review) -> dict[str, Any]:
    rubric = as_rubric(review.rubric.content)
    given = scoring.ReviewContent(scores={k: scoring.ScoreContent(**s) for k, s in review.scores.items()})
    design = design_as_reviewed(viewer, review)
    visible = queries.visible_reviews(session, viewer, review.subject_id)
    seen = next(s for s in visible if s.review.id == review.id)
    return {
        "review": review,
        "label": seen.label,
        "revisions": revisions.around(session, viewer, review, visible),
        "submission": review.subject.submission,
        "task": review.subject.task_version,
        "criteria": criteria(review, viewer, review.scores, design=design),
        "total": total(rubric, scoring.as_scores(given)),
        "evidence": design or evidence_for(viewer, review),
        "design": design,
        "comments": _placed(request, viewer, review, review.comments),
        **_links_read(request, review),
        "titles": page.titles_of(review.rubric),
    }


def _as_the_author(review: Review) -> panels.Evidence | None:
    """The evidence as far as the author may know it: what is written to them names nothing else."""
    report = review.evaluation.report if review.evaluation else None
    return panels.for_viewer(Report.from_json(report), sees_hidden=False) if report else None


def report_for_author(review: Review) -> Report | None:
    evidence = _as_the_author(review)
    return evidence.report if evidence else None


def assembled(review: Review, content: dict[str, Any]) -> str:
    """The overall feedback as far as it is said already, behind what was typed."""
    subject, evidence = review.subject, _as_the_author(review)
    kind = subject.task_version.kind if subject.submission_id else subject.kind
    criteria = RubricContent.model_validate(review.rubric.content).criteria
    more = feedback.assembled(kind, criteria, content, evidence.citation if evidence else str)
    return feedback.appended(content.get("feedback", ""), more)


def hints_on(session: Session, viewer: Viewer, review: Review, content: dict[str, Any]) -> list[hints.Hint]:
    before = queries.own_feedback(session, viewer, besides=review)
    return hints.hints(content, page.titles_of(review.rubric), before, report_for_author(review))


def text_preview(request: Request, review: Review, text: str) -> Response:
    """The words of one box with their figures."""
    context = {"text": variables.filled(text, report_for_author(review)), "unknown": variables.unknown([text])}
    return pages.render(request, "reviews/text_preview.html", context)


def author_preview(
    request: Request, viewer: Viewer, review: Review, content: dict[str, Any], *, whole: bool = False
) -> Response:
    """What the author will read: the words with their figures, the decision, the comments at their lines.

    `whole`: as a page of its own.
    """
    evidence, report = _as_the_author(review), report_for_author(review)
    said = [one | {"body": variables.filled(one["body"], report)} for one in content.get("comments", [])]
    context = {
        "feedback": variables.filled(content.get("feedback", ""), report),
        "unknown": variables.unknown([content.get("feedback", ""), *(one["body"] for one in said)]),
        "decision": content.get("decision"),
        "comments": _placed(request, viewer, review, said),
        "titles": page.titles_of(review.rubric),
        "evidence": evidence,
        "review": review,
        "task": review.subject.task_version,
    }
    return pages.render(request, "reviews/preview.html" if whole else "reviews/author_preview.html", context)


def earlier(request: Request, session: Session, viewer: Viewer, review: Review) -> list[comments.EarlierComment]:
    submission = review.subject.submission
    return comments.earlier(session, request.app.state.settings, viewer, submission) if submission else []


def criteria(
    review: Review,
    viewer: Viewer,
    scores: dict[str, Any],
    problems: Any = None,
    rulings: Sequence[page.ShownRuling] = (),
    *,
    design: designs.Design | None = None,
) -> list[page.CriterionView]:
    submission = review.subject.submission
    return page.criteria_of(
        review.rubric,
        kind=review.subject.task_version.kind,
        framework=submission.framework if submission else "",
        scores=scores,
        evidence=design or evidence_for(viewer, review),
        problems=problems if isinstance(problems, dict) else None,
        rulings=rulings,
    )


def reviews_beside(session: Session, viewer: Viewer, subject_id: int) -> dict[str, Any]:
    """The reviews of a subject that this viewer may read, side by side, and the decision if they may know it."""
    standing = queries.standing(queries.visible_reviews(session, viewer, subject_id))
    seen = [one for one in standing if one.review.state == ReviewState.SUBMITTED]
    own = next((one.review for one in seen if one.review.reviewer_id == viewer.id), None)
    is_author = queries.is_author(session, viewer, subject_id)
    sees_decision = policy.sees_decision(viewer, own, is_author=is_author)
    return {
        "seen": seen,
        "rows": [(one, {c.content.key: c for c in criteria_read(one.review, viewer)}) for one in seen],
        "is_author": is_author,
        "decision": queries.decision_of(session, subject_id) if sees_decision else None,
        "may_decide": viewer.is_staff and not is_author,
    }


def criteria_read(review: Review, viewer: Viewer) -> list[page.CriterionView]:
    """As they were answered."""
    return criteria(review, viewer, review.scores, design=design_as_reviewed(viewer, review))


def design_as_reviewed(viewer: Viewer, review: Review) -> designs.Design | None:
    """A task's version with the record that its reviewer went by."""
    if review.health is None:
        return None
    task, health = review.subject.task_version, TaskHealth.from_json(review.health)
    return designs.design_of(task, health, sees_hidden=task_policy.sees_hidden(viewer))


def design_context(session: Session, viewer: Viewer, task: TaskVersion, *, citable: bool = False) -> dict[str, Any]:
    """A task's version with its record as it is now, and what reviewers of submissions report of it."""
    sees_hidden = task_policy.sees_hidden(viewer)
    return {
        "design": designs.design_of(task, health_of(session, task.id), sees_hidden=sees_hidden, citable=citable),
        "defect_reports": queries.defect_reports(session, viewer, task.id),
    }


def _design_of_draft(session: Session, viewer: Viewer, review: Review) -> dict[str, Any]:
    if not files.is_design(review.subject):
        return {"design": None}
    return design_context(session, viewer, review.subject.task_version, citable=True)


def _evidence_context(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    typed_at: Mapping[str, Mapping[int, list[comments.PlacedComment]]],
) -> dict[str, Any]:
    submission = review.subject.submission
    sources = source_files(request.app.state.settings, viewer, review)
    evidence = evidence_for(viewer, review, citable=True, records=precision.records(session))
    pointed_at = {
        f.name: [*(evidence.at_lines(f.name) if evidence else ()), *typed_at.get(f.name, ())] for f in sources
    }
    return {
        "submission": submission,
        "comparisons": choices_of(review, submission) if submission else [],
        "task": review.subject.task_version,
        "evidence": evidence,
        **_design_of_draft(session, viewer, review),
        "files": parts.first_parts(sources, pointed_at),
        "more": more_address(review),
        "typed_at": typed_at,
        "anchors": {f.name: f.anchor for f in sources},
        "author": submission_policy.author_label(viewer, submission) if submission else "",
    }


def _answers(
    request: Request, session: Session, viewer: Viewer, review: Review, shown: Mapping[str, Any]
) -> list[questions.Answer]:
    if shown["evidence"] is None:
        return []
    settings, submission = request.app.state.settings, shown["submission"]
    before = submission_queries.ancestors_of(session, submission)[:1]
    others = queries.standing(queries.visible_reviews(session, viewer, review.subject_id))
    setting = questions.Setting(
        anchors=shown["anchors"],
        changes=changed(*(submissions.texts(settings, one) for one in (before[0], submission))) if before else None,
        compare=f"/reviews/{review.public_id}/source?against={PARENT}",
        reviews_in=review.subject.reviews_done,
        others=[seen.label for seen in others if seen.review.reviewer_id != review.reviewer_id],
    )
    return questions.answers(shown["evidence"], setting)


def _conflict(session: Session, review: Review, content: dict[str, Any], other: service.Saved | None) -> dict[str, Any]:
    if other is None or other.conflict is None:
        return {"other": None}
    if review.is_ranking:
        return {"other": other, "differences": differing.differences(content, other.conflict, {}, {})}
    version = review.rubric
    titles = page.titles_of(version)
    rulings = {
        ruling.public_id: f"{ruling.created_at:%d %b %Y}, {titles.get(ruling.criterion, ruling.criterion)}"
        for ruling in rubric_queries.rulings_of(session, version)
    }
    return {"other": other, "differences": differing.differences(content, other.conflict, titles, rulings)}


def _keys(session: Session, viewer: Viewer) -> dict[str, Any]:
    """The keys of the page, with those that this person put in their place."""
    own = account_queries.keys_of(session, viewer.id)
    by_action = keys.by_action(own, keys.REVIEW)
    return {
        "bound_keys": keys.bound(own, keys.REVIEW), "fixed_keys": keys.FIXED, "key_of": by_action,
        "bound_keys_json": json.dumps(by_action),
    }  # fmt: skip


def _rulings(session: Session, viewer: Viewer, review: Review, content: dict[str, Any]) -> list[page.ShownRuling]:
    standing = rubric_queries.rulings_of(session, review.rubric)
    read_at = rubric_queries.acknowledged(session, viewer.id, [ruling.id for ruling in standing])
    ticked = content.get("acknowledged", [])
    return [page.ShownRuling(ruling, read_at.get(ruling.id), ruling.public_id in ticked) for ruling in standing]


def _token(viewer: Viewer, review: Review) -> str:
    slot = review.slot
    return slot.token or "" if slot and slot.holder_id == viewer.id else ""


def _lease(viewer: Viewer, review: Review) -> Any:
    slot = review.slot
    return slot.lease_until if slot and slot.holder_id == viewer.id and slot.state == SlotState.CLAIMED else None


def _links_read(request: Request, review: Review) -> dict[str, Any]:
    if not review.links:
        return {"links": [], "link_tables": []}
    made = links.numbered(review.links)
    sources = links.task_sources(request.app.state.settings, review.subject.task_version)
    return {"links": made, "link_tables": links.tables(made, sources)}


def _placed(
    request: Request, viewer: Viewer, review: Review, said: Sequence[dict[str, Any]]
) -> list[comments.PlacedComment]:
    sees_hidden = task_policy.sees_hidden(viewer)
    sources = files.sources_of(request.app.state.settings, files.reviewed(review.subject), sees_hidden=sees_hidden)
    return [comments.placed(comment, sources) for comment in said]
