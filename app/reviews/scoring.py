"""What a reviewer sends: scores, comments, decision; read strictly on submit, loosely while drafting."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.domain.informers import CLAIM_CONTRADICTED, covers
from app.domain.report import Severity, Tier
from app.domain.review import CommentCategory, CommentSeverity, Decision
from app.domain.rubric import CANNOT_JUDGE, NOT_APPLICABLE, Rubric, Score, problems
from app.errors import Invalid, TooLarge
from app.kit import strict_json

STATES = ("scored", NOT_APPLICABLE, CANNOT_JUDGE)
FEEDBACK_LENGTH_MIN = 1
DRAFT_LENGTH_MAX = 1_000_000
LINKS_MAX = 500


class ScoreContent(BaseModel):
    model_config = ConfigDict(extra="forbid")

    level: int | None = None
    state: str = Field("scored", pattern=f"^({'|'.join(STATES)})$")
    rationale: str = Field("", max_length=20_000)
    evidence: list[str] = []
    false_because: str = Field("", max_length=20_000)


class CommentContent(BaseModel):
    """A remark on a line, a range, a whole file, or (without a path) the submission.

    `criterion` is the key of the one that it speaks for; `evidence` holds cited cells, as in a score.
    """

    model_config = ConfigDict(extra="forbid")

    path: str | None = None
    line: int | None = Field(None, ge=1)
    end_line: int | None = Field(None, ge=1)
    body: str = Field(min_length=1, max_length=20_000)
    criterion: str | None = None
    severity: CommentSeverity | None = None
    category: CommentCategory | None = None
    evidence: list[str] = []


class Fate(StrEnum):
    """What became of lines of the source in a submission."""

    TRANSLATED = "translated"
    CALLED_THROUGH = "called_through"
    DROPPED = "dropped"


class LinkContent(BaseModel):
    """Lines of a file of the task, and those of the submission that they became; none where they were dropped."""

    model_config = ConfigDict(extra="forbid")

    left_path: str = Field(min_length=1)
    left_start: int = Field(ge=1)
    left_end: int = Field(ge=1)
    right_path: str | None = None
    right_start: int | None = Field(None, ge=1)
    right_end: int | None = Field(None, ge=1)
    how: Fate = Fate.TRANSLATED
    note: str = Field("", max_length=2_000)


class RankingContent(BaseModel):
    """Letter -> rank, 1 the best, equal ones tied; how much better each place is than the next; and why."""

    model_config = ConfigDict(extra="forbid")

    ranks: dict[str, int] = {}
    strengths: list[str] = []
    reason: str = Field("", max_length=20_000)


class ReviewContent(BaseModel):
    """A whole review.  A draft holds the same fields, none of them required.

    `acknowledged` are ids of rulings that the reviewer says to have read, `what_changed` is of a correction.
    `ranking` and `notes`, a text to the author of each letter, are of a comparison: it has no scores and no comments.
    """

    model_config = ConfigDict(extra="forbid")

    scores: dict[str, ScoreContent] = {}
    comments: list[CommentContent] = []
    links: list[LinkContent] = Field([], max_length=LINKS_MAX)
    ranking: RankingContent | None = None
    notes: dict[str, Annotated[str, Field(max_length=20_000)]] = {}
    feedback: str = Field("", max_length=100_000)
    decision: Decision | None = None
    confidence: int | None = Field(None, ge=1, le=3)
    acknowledged: list[str] = []
    suggestions_shown: bool = True
    active_seconds: int = Field(0, ge=0)
    what_changed: str = Field("", max_length=300)


def read(data: Mapping[str, Any]) -> ReviewContent:
    try:
        return ReviewContent.model_validate(dict(data))
    except ValidationError as error:
        found = {".".join(map(str, e["loc"])): e["msg"] for e in error.errors()}
        raise Invalid("the review cannot be read", what_to_do="Correct what is listed.", problems=found) from None


class DraftScore(BaseModel):
    level: int | None = None
    state: str = "scored"
    rationale: str = ""
    evidence: list[str] = []
    false_because: str = ""


class DraftComment(BaseModel):
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    body: str = ""
    criterion: str | None = None
    severity: str | None = None
    category: str | None = None
    evidence: list[str] = []


class DraftLink(BaseModel):
    left_path: str = ""
    left_start: int | None = None
    left_end: int | None = None
    right_path: str | None = None
    right_start: int | None = None
    right_end: int | None = None
    how: str = Fate.TRANSLATED.value
    note: str = ""


class DraftRanking(BaseModel):
    ranks: dict[str, int | None] = {}
    strengths: list[str] = []
    reason: str = ""


class DraftContent(BaseModel):
    """The least that the page needs to show a draft again: the right kinds of things in the right places."""

    model_config = ConfigDict(extra="ignore")

    scores: dict[str, DraftScore] = {}
    comments: list[DraftComment] = []
    links: list[DraftLink] = []
    ranking: DraftRanking = DraftRanking()
    notes: dict[str, str] = {}
    feedback: str = ""
    decision: str | None = None
    confidence: int | None = None
    acknowledged: list[str] = []
    what_changed: str = ""


def check_draft(data: Mapping[str, Any]) -> None:
    """A draft may lack anything, and must be a draft: what is kept has to open again."""
    if len(strict_json.dump(dict(data))) > DRAFT_LENGTH_MAX:
        raise TooLarge(f"the draft is longer than {DRAFT_LENGTH_MAX} characters", what_to_do="Shorten the comments.")
    try:
        DraftContent.model_validate(dict(data))
    except ValidationError as error:
        found = {".".join(map(str, e["loc"])): e["msg"] for e in error.errors()}
        raise Invalid("the draft cannot be read", what_to_do="Correct what is listed.", problems=found) from None


def as_scores(content: ReviewContent) -> dict[str, Score]:
    return {
        key: Score(level=s.level if s.state == "scored" else None, state=s.state, rationale=s.rationale,
                   evidence=tuple(s.evidence), false_because=s.false_because)
        for key, s in content.scores.items()
    }  # fmt: skip


def missing(
    rubric: Rubric,
    content: ReviewContent,
    report: Mapping[str, Any] | None,
    decisions: Collection[Decision] = tuple(Decision),
) -> dict[str, str]:
    """What keeps the review from being submitted: place -> sentence, in the order of the page."""
    scores = as_scores(content)
    found = problems(rubric, scores) | _above_caps(rubric, scores, report)
    known = {c.key for c in rubric.criteria}
    found |= {key: "this rubric has no such criterion" for key in scores if key not in known}
    if content.decision is None:
        found["decision"] = "choose a decision"
    elif content.decision not in decisions:
        found["decision"] = f"here the decisions are {', '.join(decisions)}"
    if content.ranking is not None or content.notes:
        found["ranking"] = "this review scores one submission, and ranks nothing"
    found |= unsure(content)
    if len(content.feedback.strip()) < FEEDBACK_LENGTH_MIN:
        found["feedback"] = "write the overall feedback: it is what the author reads"
    return found


def unsure(content: ReviewContent) -> dict[str, str]:
    return {} if content.confidence is not None else {"confidence": "say how sure you are, from 1 to 3"}


def caps(rubric: Rubric, report: Mapping[str, Any] | None) -> dict[str, tuple[int, str]]:
    """Criterion -> (highest level, finding code) that an error finding allows without a reason why it is false."""
    return {key: min(hits) for key, hits in _hits(rubric, report).items()}


def called_false(content: ReviewContent, rubric: Rubric, report: Mapping[str, Any] | None) -> dict[str, str]:
    """Finding code -> why the reviewer holds it for false: those whose cap a score goes above."""
    found: dict[str, str] = {}
    for key, hits in _hits(rubric, report).items():
        score = content.scores.get(key)
        if score is not None and score.state == "scored" and score.level is not None:
            found |= {code: score.false_because for limit, code in hits if score.level > limit}
    return found


def _hits(rubric: Rubric, report: Mapping[str, Any] | None) -> dict[str, list[tuple[int, str]]]:
    """Criterion -> each (level, code) by which an error finding or a contradicted claim caps it."""
    findings = (report or {}).get("findings", [])
    # Of the integrity findings only a hard one proves anything.
    errors = [f["code"] for f in findings if f["severity"] == Severity.ERROR and f.get("tier") in (None, Tier.HARD)]
    if any(claim["status"] == "contradicted" for claim in (report or {}).get("claims", [])):
        errors.append(CLAIM_CONTRADICTED)
    return {
        criterion.key: hits
        for criterion in rubric.criteria
        if (hits := [(level, code) for code in errors for rule, level in criterion.caps.items() if covers(rule, code)])
    }


def _above_caps(rubric: Rubric, scores: Mapping[str, Score], report: Mapping[str, Any] | None) -> dict[str, str]:
    return {
        key: f"the finding {code} caps this at {limit}: to go above, say why the finding is false"
        for key, (limit, code) in caps(rubric, report).items()
        if (s := scores.get(key)) is not None
        and s.level is not None
        and s.level > limit
        and not s.false_because.strip()
    }
