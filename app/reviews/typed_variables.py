"""The variables in a review that is handed in: none unknown, and each replaced by its figure."""

from __future__ import annotations

from app.domain.report import Report
from app.models import Evaluation
from app.reviews import variables
from app.reviews.scoring import ReviewContent


def problems(given: ReviewContent) -> dict[str, str]:
    """Place -> a name there that stands for nothing."""
    known = ", ".join(variable.name for variable in variables.VARIABLES)
    places = {"feedback": [given.feedback], "comments": [comment.body for comment in given.comments]}
    places |= {key: [score.rationale] for key, score in given.scores.items()}
    return {
        place: f"{{{{{names[0]}}}}} stands for nothing; there are {known}"
        for place, texts in places.items()
        if (names := variables.unknown(texts))
    }


def filled(given: ReviewContent, evaluation: Evaluation | None) -> ReviewContent:
    """With figures for variables, as far as the author may know them."""
    said = [given.feedback, *(c.body for c in given.comments), *(s.rationale for s in given.scores.values())]
    if not any("{{" in text for text in said):
        return given
    report = evaluation.report if evaluation else None
    known = Report.from_json(report).for_submitter() if report else None
    comments_filled = [c.model_copy(update={"body": variables.filled(c.body, known)}) for c in given.comments]
    scores = {
        key: score.model_copy(update={"rationale": variables.filled(score.rationale, known)})
        for key, score in given.scores.items()
    }
    feedback = variables.filled(given.feedback, known)
    return given.model_copy(update={"feedback": feedback, "comments": comments_filled, "scores": scores})
