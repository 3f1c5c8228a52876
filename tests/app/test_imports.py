"""Many at once: a result for each row, no row in another's way, and nothing twice however often it is sent."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, func, select, update

from app.accounts import service as accounts
from app.config import MEBIBYTE
from app.domain.review import Role
from app.imports import queries, rows, service
from app.kit.db import Database
from app.main import create_app
from app.models import Import, ImportRow, Submission, User, utc_now
from tests import factories
from tests.conftest import make_settings
from workers.jobs import import_submissions as job
from workers.jobs import sweep

BULK = "/api/v1/submissions/bulk"
JSONL = {"Content-Type": "application/jsonl"}


def row(number=1, **more):
    return {"task": "row-softmax", "files": {"solution.py": f"import triton\n# {number}\n"}} | more


def jsonl(*found):
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in found).encode()


class House:
    """An application, one submitter with a token, and a worker that takes every message."""

    def __init__(self, client, settings, sender):
        self.client, self.settings, self.sender = client, settings, sender
        self.database = client.app.state.database
        with self.database.write() as session:
            factories.make_task(session, settings)
        self.viewer, self.headers = self.person()

    def person(self):
        with self.database.write() as session:
            viewer = factories.make_viewer(session)
            _, secret = accounts.create_token(session, self.settings, viewer, name="t", scopes=["read", "submit"])
        return viewer, {"Authorization": f"Bearer {secret}"}

    def send(self, *found, data=None, **headers):
        return self.client.post(
            BULK, content=data or jsonl(*found), headers=self.headers | JSONL | headers, params=self.params
        )

    params: dict = {}  # noqa: RUF012 - replaced whole

    def work(self):
        """Every import message there is, and those that they ask for."""
        while jobs := [arguments for name, arguments in self.sender.jobs if name == service.JOB]:
            self.sender.jobs = [sent for sent in self.sender.jobs if sent[0] != service.JOB]
            for arguments in jobs:
                job.run(self.database, self.settings, arguments["import_id"])

    def sent(self, *found, **headers):
        answer = self.send(*found, **headers)
        assert answer.status_code == 202, answer.text
        self.work()
        return self.result(answer.json()["id"])

    def result(self, import_id, **params):
        answer = self.client.get(f"/api/v1/imports/{import_id}", headers=self.headers, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def count(self, kind=Submission):
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(kind))


def opened(settings, sender):
    app = create_app(settings)
    app.state.database.close()
    app.state.database = Database(settings, sender)
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def house(settings, sender):
    with opened(settings, sender) as client:
        yield House(client, settings, sender)


@pytest.fixture
def each_house(each_settings, sender):
    with opened(each_settings, sender) as client:
        yield House(client, each_settings, sender)


class TestEachRowHasAResult:
    """label-studio#7204, #7205."""

    def test_with_its_line_its_key_and_its_submission_or_its_problem(self, each_house):
        done = each_house.sent(
            row(1, key="a", title="First"), "", row(2, task="nothing-like-it", key="b"), "{broken", row(1),
            row(3, framework="cuda"),
        )  # fmt: skip

        assert (done["state"], done["rows"], done["rows_done"]) == ("done", 5, 5)
        assert done["counts"] == {"created": 1, "existing": 1, "valid": 0, "refused": 3, "failed": 0}
        assert [(r["row"], r["key"], r["status"]) for r in done["results"]] == [
            (1, "a", "created"), (3, "b", "refused"), (4, None, "refused"), (5, None, "existing"), (6, None, "refused"),
        ]  # fmt: skip
        created, unknown, broken, same, wrong = done["results"]
        assert created["submission"] == same["submission"] and created["submission"].startswith("sub_")
        assert unknown["problem"]["status"] == 404 and "nothing-like-it" in unknown["problem"]["detail"]
        assert broken["problem"]["status"] == 422 and "the row is not JSON" in broken["problem"]["detail"]
        assert wrong["problem"]["what_to_do"]

    def test_the_problem_is_what_a_single_upload_is_answered_with(self, house):
        wrong = (
            row(1, title="t" * 500),
            row(1, nonsense=1),
            {"files": {}},
            row(1, files={"../x.py": "1"}),
            row(1, files={}),
        )
        together = [r["problem"] for r in house.sent(*wrong)["results"]]
        alone = [house.client.post("/api/v1/submissions", json=one, headers=house.headers).json() for one in wrong]

        assert together == alone and len(alone) == 5

    def test_a_row_that_is_taken_is_evaluated_like_any(self, house):
        done = house.sent(row(1))
        alone = house.client.get(
            f"/api/v1/submissions/{done['results'][0]['submission']}", headers=house.headers
        ).json()
        assert alone["evaluations"][0]["state"] == "queued"
        assert [name for name, _ in house.sender.jobs] == ["evaluate"]

    def test_pages_of_results_hold_every_row_once(self, house):
        done = house.sent(*(row(n) for n in range(5)))
        found, cursor = [], None
        while True:
            page = house.result(done["id"], limit=2, **({"cursor": cursor} if cursor else {}))
            found, cursor = found + [r["row"] for r in page["results"]], page["next_cursor"]
            if cursor is None:
                break
        assert found == [1, 2, 3, 4, 5]

    def test_results_can_be_asked_for_by_status(self, house):
        done = house.sent(row(1), "{", row(2))
        assert [r["row"] for r in house.result(done["id"], status="refused")["results"]] == [2]

    def test_nobody_else_sees_an_import(self, house):
        done = house.sent(row(1))
        _, others = house.person()
        assert house.client.get(f"/api/v1/imports/{done['id']}", headers=others).status_code == 404
        assert house.client.get("/api/v1/imports", headers=others).json()["items"] == []
        assert [i["id"] for i in house.client.get("/api/v1/imports", headers=house.headers).json()["items"]] == [
            done["id"]
        ]


class TestNothingTwice:
    """Acceptance (h): the same file twice, and once with the same key but another body."""

    def test_the_same_file_again_creates_nothing(self, each_house):
        first = each_house.sent(row(1), row(2))
        again = each_house.sent(row(1), row(2))
        assert again["counts"]["existing"] == 2 and again["id"] != first["id"]
        assert [r["submission"] for r in again["results"]] == [r["submission"] for r in first["results"]]
        assert each_house.count() == 2

    def test_the_same_request_key_is_the_same_import(self, house):
        key = {"Idempotency-Key": "k"}
        first, again = house.send(row(1), **key), house.send(row(1), **key)
        assert first.json()["id"] == again.json()["id"] and house.count(Import) == 1
        assert again.headers["location"] == f"/api/v1/imports/{first.json()['id']}"

        other = house.send(row(2), **key)
        assert other.status_code == 409 and "Idempotency-Key" in other.json()["detail"]
        assert house.count(Import) == 1

    def test_a_dry_run_is_another_request_than_the_real_one(self, house):
        house.send(row(1), **{"Idempotency-Key": "k"})
        house.params = {"dry_run": True}
        assert house.send(row(1), **{"Idempotency-Key": "k"}).status_code == 409

    def test_a_rows_key_is_used_once(self, each_house):
        done = each_house.sent(row(1, key="a"), row(1, key="a"), row(2, key="a"), row(2, key="b"))
        assert [r["status"] for r in done["results"]] == ["created", "existing", "refused", "created"]
        assert done["results"][2]["problem"]["status"] == 409

    def test_a_rows_key_belongs_to_its_sender_and_is_no_requests_key(self, house):
        house.sent(row(1, key="a"))
        headers = house.headers | {"Idempotency-Key": "a"}
        assert house.client.post("/api/v1/submissions", json=row(9), headers=headers).status_code == 201
        _, house.headers = house.person()
        assert house.sent(row(2, key="a"))["counts"]["created"] == 1

    def test_a_refused_row_leaves_its_key_free(self, house):
        done = house.sent(row(1, key="a", framework="cuda"), row(1, key="a"))
        assert [r["status"] for r in done["results"]] == ["refused", "created"]

    def test_a_turn_that_is_taken_over_keeps_nothing_more(self, each_house):
        import_id = each_house.send(row(1), row(2)).json()["id"]
        database, settings = each_house.database, each_house.settings
        with database.write() as session:
            late = service.claim(session, settings, import_id)
            session.execute(update(Import).values(lease_until=utc_now() - dt.timedelta(seconds=1)))
        job.run(database, settings, import_id)
        with late.file.open("rb") as file:
            line = next(rows.lines(file, number=late.next_line, byte=late.next_byte))
        with pytest.raises(service.TurnLost), database.write() as session:
            session.execute(ImportRow.__table__.delete())  # else the row's own number would refuse it
            result = rows.submit(session, settings, late.viewer, rows.read(line), is_dry_run=False)
            service.keep_result(session, late, line, result)

        assert (
            each_house.result(import_id)["counts"]["created"] == each_house.count() == each_house.count(ImportRow) == 2
        )


class TestDryRun:
    def test_says_what_would_be_and_keeps_nothing(self, each_house):
        each_house.sent(row(1))
        each_house.sender.jobs.clear()
        each_house.params = {"dry_run": True}
        done = each_house.sent(row(1), row(2, key="a"), row(3, framework="cuda"))

        assert done["dry_run"] and [r["status"] for r in done["results"]] == ["existing", "valid", "refused"]
        assert done["results"][1]["submission"] is None
        assert each_house.count() == 1 and each_house.sender.jobs == []
        each_house.params = {}
        assert each_house.sent(row(2, key="a"))["counts"]["created"] == 1


class TestLimits:
    @pytest.fixture
    def house(self, settings, sender):
        small = make_settings(settings.data_dir, import_rows_max=2, import_bytes_max=MEBIBYTE)
        with opened(small, sender) as client:
            yield House(client, small, sender)

    def test_too_many_rows(self, house):
        answer = house.send(row(1), "", row(2), row(3))
        assert answer.status_code == 413 and "3 rows, and an import takes 2" in answer.json()["detail"]
        assert house.send(row(1), "", row(2)).status_code == 202

    def test_too_many_bytes(self, house):
        answer = house.send(data=b" " * (MEBIBYTE + 1))
        assert answer.status_code == 413 and "1 MiB" in answer.json()["detail"]
        far = house.send(data=b" " * (3 * MEBIBYTE))
        assert far.status_code == 413 and far.json()["what_to_do"] == "Send it in parts."

    def test_nothing_and_something_else(self, house):
        assert "no row" in house.send(data=b"\n \n").json()["detail"]
        answer = house.client.post(BULK, content=b"{}", headers=house.headers | {"Content-Type": "text/csv"})
        assert answer.status_code == 422 and "text/csv" in answer.json()["detail"]
        assert house.count(Import) == 0

    def test_without_the_scope_nothing_is_read(self, house):
        with house.database.write() as session:
            _, secret = accounts.create_token(session, house.settings, house.viewer, name="r", scopes=["read"])
        house.headers = {"Authorization": f"Bearer {secret}"}
        assert house.send(row(1)).status_code == 403


class TestInterrupted:
    def test_it_goes_on_turn_by_turn_where_it_ended(self, house, monkeypatch):
        monkeypatch.setattr(service, "ROWS_A_TURN", 2)
        import_id = house.send(*(row(n) for n in range(5))).json()["id"]
        job.run(house.database, house.settings, import_id)
        assert (house.result(import_id)["rows_done"], house.result(import_id)["state"]) == (2, "queued")
        house.work()
        assert [r["row"] for r in house.result(import_id)["results"]] == [1, 2, 3, 4, 5]

    def test_a_row_that_breaks_us_costs_its_attempts_and_no_other_row(self, house, monkeypatch):
        submit = rows.submit
        tried = []

        def break_on_two(session, settings, viewer, asked, **more):
            if b"# 2\n" in asked.new.files["solution.py"]:
                tried.append(asked)
                submit(session, settings, viewer, asked, **more)
                raise RuntimeError("ours")
            return submit(session, settings, viewer, asked, **more)

        monkeypatch.setattr(rows, "submit", break_on_two)
        done = house.sent(row(1), row(2), row(3))
        assert [r["status"] for r in done["results"]] == ["created", "failed", "created"]
        assert done["results"][1]["problem"]["status"] == 500 and len(tried) == house.settings.attempts_max
        assert house.count() == 2 and done["state"] == "done"

    def test_the_sweep_sends_again_what_nobody_took_or_finished(self, house):
        import_id = house.send(row(1)).json()["id"]
        house.sender.jobs.clear()
        with house.database.write() as session:
            session.execute(update(Import).values(sent_at=utc_now() - dt.timedelta(hours=1)))
        assert sweep.run(house.database, house.settings).imports_resent == 1
        with house.database.write() as session:
            service.claim(session, house.settings, import_id)
            session.execute(update(Import).values(lease_until=utc_now() - dt.timedelta(seconds=1)))
        assert sweep.run(house.database, house.settings).imports_resent == 1
        house.work()
        assert house.result(import_id)["counts"]["created"] == 1

    def test_without_its_file_or_its_sender_it_ends(self, house):
        one, two = (house.send(row(n)).json()["id"] for n in (1, 2))
        with house.database.read() as session:
            (house.settings.blobs_dir / (sha := queries.find(session, one).sha256)[:2] / sha).unlink()
        job.run(house.database, house.settings, one)
        assert "missing" in house.result(one)["failure"]
        with house.database.write() as session:
            session.get_one(User, house.viewer.id).is_active = False
        job.run(house.database, house.settings, two)
        with house.database.read() as session:
            assert queries.find(session, two).state == "failed" and house.count() == 0

    def test_a_role_that_is_gone_by_then_is_refused_row_by_row(self, house):
        import_id = house.send(row(1)).json()["id"]
        with house.database.write() as session:
            session.get_one(User, house.viewer.id).roles = [Role.REVIEWER.value]
        house.work()
        assert house.result(import_id)["results"][0]["problem"]["status"] == 403


class TestTimePerRow:
    """label-studio#4549, without a clock: what a row asks of the database does not grow."""

    def test_a_row_asks_as_often_and_reads_as_little_with_many_there_as_with_none(self, house):
        first = self._asked(house, 1)
        house.sent(*(row(n) for n in range(10, 50)))
        assert self._asked(house, 2) == first

    def test_no_row_scans_a_table(self, house):
        house.sent(*(row(n) for n in range(10, 20)))
        plans = []

        def explain(connection, _cursor, statement, parameters, _context, _many):
            if statement.startswith(("SELECT", "UPDATE")):
                found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(one[3] for one in found)

        import_id = house.send(row(1, key="a")).json()["id"]
        event.listen(house.database.engine, "before_cursor_execute", explain, named=False)
        job.run(house.database, house.settings, import_id)
        event.remove(house.database.engine, "before_cursor_execute", explain)
        assert any("submissions" in plan for plan in plans)
        # Webhooks are a handful, however much is imported; they are asked once, at the end.
        assert [plan for plan in plans if plan.startswith("SCAN")] == ["SCAN webhook_endpoints"]

    def test_no_byte_of_the_rows_before_is_read_again(self, tmp_path):
        path = tmp_path / "rows.jsonl"
        path.write_bytes(b"x" * 1000 + b"\n\n{}\n")
        with path.open("rb") as file:
            (line,) = rows.lines(file, number=2, byte=1001)
        assert (line.number, line.end, line.data) == (3, 1005, b"{}\n")

    def _asked(self, house, number):
        import_id = house.send(row(number)).json()["id"]
        seen = []
        listener = lambda *call: seen.append(call[2])  # noqa: E731
        event.listen(house.database.engine, "before_cursor_execute", listener)
        job.run(house.database, house.settings, import_id)
        event.remove(house.database.engine, "before_cursor_execute", listener)
        assert house.result(import_id)["counts"]["created"] == 1
        return len(seen)
