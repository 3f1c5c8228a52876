"""How often a rule was found false where people contested it: shown beside the rule, and never a reason to hide it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from app.models import Contest

ENOUGH = 5  # settled contests, before a share of them says anything


@dataclass(frozen=True)
class Record:
    """How contests of one rule were settled: `false` of `settled` were upheld."""

    settled: int
    false: int

    @property
    def said(self) -> str:
        counts = f"contested and settled {self.settled} time{'s' if self.settled > 1 else ''}, found false {self.false}"
        return counts if self.settled >= ENOUGH else f"{counts}: not enough to say how precise the rule is"


def records(session: Session) -> dict[str, Record]:
    """Finding code (or `verdict`) -> its record; a rule that nobody contested has none."""
    rows = session.execute(
        select(Contest.finding_code, func.count(), func.sum(case((Contest.upheld.is_(True), 1), else_=0)))
        .where(Contest.upheld.is_not(None))
        .group_by(Contest.finding_code)
    )
    return {code: Record(settled, int(false or 0)) for code, settled, false in rows}
