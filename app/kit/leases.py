"""Named leases: of all the processes that could do something, one does it at a time."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import delete, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.models import Lease, utc_now


def hold(session: Session, name: str, holder: str, seconds: float) -> bool:
    """Take or extend the lease; False while somebody else holds it."""
    now = utc_now()
    until = now + dt.timedelta(seconds=seconds)
    mine = or_(Lease.holder == holder, Lease.until < now)
    statement = update(Lease).where(Lease.name == name, mine).values(holder=holder, until=until).returning(Lease.name)
    if session.scalar(statement, execution_options={"synchronize_session": False}) is not None:
        return True
    if session.scalar(select(Lease.name).where(Lease.name == name)) is not None:
        return False
    try:
        with session.begin_nested():
            session.add(Lease(name=name, holder=holder, until=until))
    except IntegrityError:
        return False  # another process made it first
    return True


def give_up(session: Session, name: str, holder: str) -> None:
    session.execute(delete(Lease).where(Lease.name == name, Lease.holder == holder))
