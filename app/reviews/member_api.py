"""The members of a comparison over REST, as their reviewer sees them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.kit.steps import ReadSession, steps
from app.reviews import members, queries, ranking
from app.reviews.members import Member
from app.submissions import service as submissions

router = steps(prefix="/reviews", tags=["reviews"])
Reader = Annotated[Viewer, Depends(scope("read"))]


class FindingOut(BaseModel):
    code: str
    severity: str
    message: str
    file: str | None
    line: int | None


class MemberOut(BaseModel):
    """Nothing here says whose it is; `figures` maps what was measured to a value in words."""

    letter: str
    framework: str
    verdict: str
    scope: str
    not_checked: list[str]
    figures: dict[str, str]
    findings: list[FindingOut]
    files: dict[str, str]


@router.get("/{review_id}/members")
def list_members(request: Request, session: ReadSession, viewer: Reader, review_id: str) -> list[MemberOut]:
    """A, B and so on; empty for a review that scores one submission."""
    settings = request.app.state.settings
    review = queries.find_visible(session, viewer, review_id).review
    pinned = ranking.members_of(session, review)
    shown = [members.shown(settings, viewer, member) for member in pinned]
    rows = members.figures(shown) if shown else []
    return [
        _as_out(member, {row.title: row.values[n] for row in rows}, submissions.texts(settings, pinned[n].submission))
        for n, member in enumerate(shown)
    ]


def _as_out(member: Member, figures: dict[str, str], files: dict[str, str]) -> MemberOut:
    report = member.evidence.report
    return MemberOut(
        letter=member.letter, framework=member.framework, verdict=report.verdict.value, scope=report.scope.sentence(),
        not_checked=list(report.not_checked), figures=figures, files=files,
        findings=[
            FindingOut(
                code=f.code, severity=f.severity.value, message=f.message,
                file=f.location.file if f.location else None, line=f.location.line if f.location else None,
            )
            for f in report.findings
        ],
    )  # fmt: skip
