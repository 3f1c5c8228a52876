"""What one exported row holds.  The field names are a promise: `schema_version` grows when they change."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from app.config import Settings
from app.domain.rubric import total
from app.kit import trees
from app.kit.blobs import BlobStore
from app.models import Evaluation, Experiment, Review, RubricVersion, Ruling, SubjectDecision, Submission, TaskVersion
from app.reviews import links
from app.reviews.comments import PlacedComment, placed
from app.reviews.files import reviewed, sources_of
from app.reviews.scoring import ReviewContent, as_scores
from app.rubrics.content import as_rubric

SCHEMA_VERSION = 1


def review_row(
    settings: Settings,
    review: Review,
    decision: SubjectDecision | None,
    rulings: Sequence[tuple[Ruling, dt.datetime | None]] = (),
    experiments: Sequence[Experiment] = (),
) -> dict[str, Any]:
    """One submitted review with all that is needed to read it without us: names are pseudonyms throughout."""
    subject = review.subject
    return {
        "schema_version": SCHEMA_VERSION,
        "review": _review(settings, review),
        "subject": {"id": subject.public_id, "kind": subject.kind},
        "task": task_part(settings, subject.task_version),
        "submission": submission_part(settings, subject.submission) if subject.submission else None,
        "evaluation": evaluation_part(review.evaluation) if review.evaluation else None,
        "experiments": [_experiment(settings, one) for one in experiments],
        "rubric": rubric_part(review.rubric) | {"rulings": [_ruling(*one) for one in rulings]},
        "final_decision": {"decision": decision.decision, "confidence": decision.confidence, "reason": decision.reason}
        if decision
        else None,
    }


def _review(settings: Settings, review: Review) -> dict[str, Any]:
    sources = sources_of(settings, reviewed(review.subject))
    left = links.task_sources(settings, review.subject.task_version) if review.links else {}
    content = ReviewContent.model_validate({"scores": review.scores})
    points = total(as_rubric(review.rubric.content), as_scores(content))
    return origin_part(review) | {
        "scores": review.scores,
        "total": points.points,
        "gated_by": points.gated_by,
        "decision": review.decision,
        "confidence": review.confidence,
        "comments": [_comment(number, placed(c, sources)) for number, c in enumerate(review.comments, 1)],
        "health": review.health,
        "links": links.exported(review.links, left, sources),
        "feedback": review.feedback,
        "is_extra": review.is_extra,
        "suggestions_shown": review.suggestions_shown,
        "active_seconds": review.active_seconds,
        "wall_seconds": review.wall_seconds,
    }


def origin_part(review: Review) -> dict[str, Any]:
    """`supersedes` is the id of the revision before.  Only first answers were blind to the other reviews."""
    return {
        "id": review.public_id,
        "revision": review.revision,
        "supersedes": review.supersedes.public_id if review.supersedes else None,
        "is_first_answer": review.revision == 1,
        "what_changed": review.what_changed or None,
        "reviewer": review.reviewer.pseudonym.replace("author-", "reviewer-"),
        "submitted_at": review.submitted_at.isoformat() if review.submitted_at else None,
    }


def _comment(number: int, comment: PlacedComment) -> dict[str, Any]:
    """`snippet` is the lines it is about, so that a row can be read without finding them in the source."""
    return {
        "number": number,
        "path": comment.path,
        "start_line": comment.start,
        "end_line": comment.end,
        "snippet": comment.snippet,
        "body": comment.content.body,
        "criterion_id": comment.content.criterion,
        "severity": comment.content.severity,
        "category": comment.content.category,
        "evidence": comment.content.evidence,
    }


def task_part(settings: Settings, version: TaskVersion) -> dict[str, Any]:
    return {
        "id": version.public_id,
        "name": version.task.name,
        "version": version.version,
        "sha256": version.sha256,
        "kind": version.kind,
        "title": version.title,
        "statement": version.description,
        "entry": version.entry,
        "files": _texts(settings, version.files),
    }


def submission_part(settings: Settings, submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.public_id,
        "author": submission.pseudonym,
        "sha256": submission.sha256,
        "framework": submission.framework,
        "revision": submission.revision,
        "submitted_at": submission.created_at.isoformat(),
        "model": submission.model,
        "prompt": submission.prompt,
        "explanation": submission.explanation,
        "claims": submission.claims,
        "files": _texts(settings, submission.files),
    }


def evaluation_part(evaluation: Evaluation) -> dict[str, Any]:
    return {"id": evaluation.public_id, "verdict": evaluation.verdict, "report": evaluation.report}


def _experiment(settings: Settings, experiment: Experiment) -> dict[str, Any]:
    """The reviewer's own run, cited as `experiment.<id>`: evidence, and no verdict on the submission."""
    return {
        "id": experiment.public_id,
        "label": "reviewer experiment",
        "target": experiment.target,
        "params": experiment.params,
        "seed": experiment.seed,
        "family": experiment.family or None,
        "tolerance": experiment.tolerance,
        "changed_files": _texts(settings, experiment.patch),
        "came_out_as": experiment.verdict,
        "report": experiment.report,
    }


def rubric_part(version: RubricVersion) -> dict[str, Any]:
    return {"key": version.rubric.key, "version": version.version, "sha256": version.sha256, "id": version.public_id}


def _ruling(ruling: Ruling, read_at: dt.datetime | None) -> dict[str, Any]:
    """One that was in force when the review was submitted, and when its reviewer acknowledged it."""
    return {
        "id": ruling.public_id,
        "criterion": ruling.criterion,
        "body": ruling.body,
        "example": ruling.example,
        "made_at": ruling.created_at.isoformat(),
        "acknowledged_at": read_at.isoformat() if read_at else None,
    }


def _texts(settings: Settings, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tree = trees.load_tree(BlobStore(settings.blobs_dir), files)
    return [{**entry, "text": tree[entry["path"]].decode("utf-8", "replace")} for entry in files]
