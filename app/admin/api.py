"""Admin acts over REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.admin import service
from app.assignments import oversight
from app.assignments import queries as assignment_queries
from app.kit.steps import WriteSession, steps

router = steps(prefix="/admin", tags=["admin"])
Admin = Annotated[Viewer, Depends(scope("admin"))]


@router.post("/evaluations/{evaluation_id}/retry", status_code=202)
def retry_evaluation(session: WriteSession, viewer: Admin, evaluation_id: str) -> dict[str, str]:
    return {"id": service.retry_evaluation(session, viewer, evaluation_id).public_id}


@router.post("/slots/{slot_id}/release", status_code=204)
def force_release(session: WriteSession, viewer: Admin, slot_id: str) -> None:
    oversight.force_release(session, viewer, assignment_queries.find_slot(session, slot_id))
