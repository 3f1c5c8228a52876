"""A house whose admin may make webhooks to this machine, and a worker that sends their messages."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import select, update

from app.domain.events import MEANINGS, Event
from app.domain.review import Role
from app.models import WebhookDelivery, utc_now
from app.webhooks import outbox, queries, service
from tests import factories
from tests.conftest import make_settings
from workers.jobs import sweep
from workers.jobs import webhook as job


class Post:
    """A house whose admin may make webhooks to this machine, and a worker for their messages."""

    def __init__(self, database, settings, sender, receiver):
        self.database, self.sender, self.receiver = database, sender, receiver
        self.settings = make_settings(
            settings.data_dir, database_url=settings.database_url, webhook_private_addresses=True,
            webhook_seconds_max=1.0, base_url="https://workbench.example",
        )  # fmt: skip
        with database.write() as session:
            self.admin = factories.make_viewer(session, Role.ADMIN)

    def endpoint(self, *events, url=None):
        with self.database.write() as session:
            return service.create(
                session, self.settings, self.admin, url=url or self.receiver.url, events=events or list(MEANINGS)
            )

    def tell(self, event=Event.SUBMISSION_EVALUATED, **ids):
        with self.database.write() as session:
            outbox.emit(session, event, path="/submissions/sub_1", **ids)

    def work(self):
        """Every message that a job was asked for."""
        asked = [arguments["delivery_id"] for name, arguments in self.sender.jobs if name == outbox.JOB]
        self.sender.jobs.clear()
        for delivery_id in asked:
            job.run(self.database, self.settings, delivery_id)

    def later(self):
        """Time goes by for what waits, and the sweep comes."""
        with self.database.write() as session:
            session.execute(update(WebhookDelivery).values(next_at=utc_now() - dt.timedelta(seconds=1)))
        sweep.run(self.database, self.settings)
        self.work()

    def messages(self):
        with self.database.read() as session:
            return session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id)).all()

    def found(self, endpoint):
        with self.database.read() as session:
            return queries.find(session, endpoint.public_id)
