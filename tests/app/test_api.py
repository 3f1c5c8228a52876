"""The REST interface as a client sees it: statuses, problem bodies, and nothing half-written."""

from __future__ import annotations

import contextlib
import io
import tarfile
import zipfile

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from app.accounts import service as accounts
from app.accounts.policy import SCOPES
from app.assignments import service as assignments
from app.domain.report import Verdict
from app.domain.review import Role
from app.main import create_app
from app.models import IdempotencyKey, Submission
from app.rubrics import service as rubrics
from app.submissions import queries as submission_queries
from tests import factories

SOURCE = {"task": "row-softmax", "files": {"solution.py": "import triton\n"}}


@pytest.fixture
def api(settings, sender):
    """An application over the test's database, with a client that bears no token."""
    app = create_app(settings)
    app.state.database.sender = sender
    with TestClient(app, raise_server_exceptions=False) as client:
        with app.state.database.write() as session:
            factories.make_task(session, settings)
        yield Api(client, app.state.database, settings)


class Api:
    def __init__(self, client, database, settings):
        self.client, self.database, self.settings = client, database, settings

    def person(self, *roles, scopes=None):
        """A new person and the headers of their token."""
        with self.database.write() as session:
            viewer = factories.make_viewer(session, *(roles or (Role.SUBMITTER,)))
            allowed = accounts.scopes_allowed(viewer.roles)
            _, secret = accounts.create_token(session, self.settings, viewer, name="t", scopes=scopes or allowed)
        return viewer, {"Authorization": f"Bearer {secret}"}

    def evaluate(self, submission_id, report):
        with self.database.write() as session:
            submission = submission_queries.find(session, submission_id)
            evaluation = factories.evaluate(session, self.settings, submission, report)
            subject = submission_queries.subject_of(session, submission.id)
            assignments.open_slots(session, self.settings, subject, report)
            return evaluation.public_id

    def count(self, kind=Submission):
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(kind))


def problem(response, status):
    """The problem body, checked for the form that every one has."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status and body["title"] and body["detail"]
    return body


class TestSubmit:
    def test_created_then_the_same(self, api):
        _, headers = api.person()
        first = api.client.post("/api/v1/submissions", json=SOURCE, headers=headers)
        again = api.client.post("/api/v1/submissions", json=SOURCE, headers=headers)

        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["id"] == again.json()["id"] and first.json()["id"].startswith("sub_")
        assert first.headers["location"] == f"/api/v1/submissions/{first.json()['id']}"
        assert first.json()["evaluations"][0]["state"] == "queued"

    @pytest.mark.parametrize("name", ["solution.py", "kernel.zip"])
    def test_a_file_or_an_archive_in_a_form(self, api, name):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("solution.py", "import triton\n")
        data = buffer.getvalue() if name.endswith("zip") else b"import triton\n"
        _, headers = api.person()
        form = {"task": "row-softmax", "model": '{"name": "m"}'}
        answer = api.client.post("/api/v1/submissions", data=form, files={"file": (name, data)}, headers=headers)

        assert answer.status_code == 201, answer.text
        assert [f["path"] for f in answer.json()["files"]] == ["solution.py"]

    def test_an_idempotency_key_answers_the_same_and_refuses_another_use(self, api):
        _, headers = api.person()
        headers |= {"Idempotency-Key": "k1"}
        first = api.client.post("/api/v1/submissions", json=SOURCE, headers=headers)
        again = api.client.post("/api/v1/submissions", json=SOURCE, headers=headers)
        assert (again.status_code, again.json()) == (201, first.json())

        other = SOURCE | {"files": {"solution.py": "import torch\n"}}
        body = problem(api.client.post("/api/v1/submissions", json=other, headers=headers), 409)
        assert "Idempotency-Key" in body["detail"]
        assert api.count() == 1


class TestBadInput:
    """Each with a clear message, and nothing kept."""

    def _refused(self, api, status, says, **request):
        _, headers = api.person()
        body = problem(api.client.post("/api/v1/submissions", headers=headers, **request), status)
        assert says in body["detail"] + str(body.get("problems", "")) and body["what_to_do"]
        assert api.count() == 0 and api.count(IdempotencyKey) == 0

    def _form(self, name, data):
        return {"data": {"task": "row-softmax"}, "files": {"file": (name, data)}}

    def test_an_unreadable_archive(self, api):
        self._refused(api, 422, "cannot be read", **self._form("a.zip", b"PK\x03\x04 broken"))

    def test_a_binary_as_source(self, api):
        self._refused(api, 422, "`solution.py` is not text", **self._form("solution.py", b"\x7fELF\0\0"))

    def test_a_link_in_an_archive(self, api):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            link = tarfile.TarInfo("a.py")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
        self._refused(api, 422, "is a link", **self._form("a.tar", buffer.getvalue()))

    def test_a_path_that_leads_out(self, api):
        self._refused(api, 422, "'../a.py' is refused", json={"task": "row-softmax", "files": {"../a.py": "x"}})

    def test_an_unknown_task(self, api):
        self._refused(api, 404, "'nope'", json=SOURCE | {"task": "nope"})

    def test_an_unknown_field(self, api):
        self._refused(api, 422, "colour", json=SOURCE | {"colour": "red"})

    def test_no_json(self, api):
        headers = {"content": b"{", "headers": {}}
        _, token = api.person()
        answer = api.client.post(
            "/api/v1/submissions", content=headers["content"], headers=token | {"Content-Type": "application/json"}
        )
        assert "not JSON" in problem(answer, 422)["detail"]

    def test_another_content_type(self, api):
        _, token = api.person()
        answer = api.client.post("/api/v1/submissions", content=b"x", headers=token | {"Content-Type": "text/plain"})
        assert "text/plain" in problem(answer, 422)["detail"]

    def test_a_hundred_megabytes(self, api):
        _, token = api.person()
        answer = api.client.post("/api/v1/submissions", files={"file": ("a.py", b"x" * 100_000_000)}, headers=token)
        assert "21 MiB" in problem(answer, 413)["detail"]
        assert api.count() == 0

    def test_a_hundred_megabytes_that_state_no_length(self, api):
        _, token = api.person()
        chunks = (b"x" * 1_000_000 for _ in range(100))
        headers = token | {"Content-Type": "application/json"}
        problem(api.client.post("/api/v1/submissions", content=chunks, headers=headers), 413)

    def test_many_files(self, api):
        self._refused(api, 413, "500 files", json=SOURCE | {"files": {f"{n}.py": "x" for n in range(501)}})


class TestTokens:
    def test_none(self, api):
        answer = api.client.post("/api/v1/submissions", json=SOURCE)
        assert "Bearer" in problem(answer, 401)["what_to_do"] and answer.headers["www-authenticate"] == "Bearer"

    def test_wrong(self, api):
        problem(api.client.get("/api/v1/tasks", headers={"Authorization": "Bearer wbt_nope"}), 401)

    def test_revoked(self, api):
        viewer, headers = api.person()
        with api.database.write() as session:
            from app.accounts import queries

            accounts.revoke_token(session, viewer, queries.list_tokens(session, viewer.id)[0].public_id)
        assert "revoked" in problem(api.client.get("/api/v1/tasks", headers=headers), 401)["detail"]

    def test_without_the_scope(self, api):
        _, headers = api.person(scopes=["read"])
        assert "submit" in problem(api.client.post("/api/v1/submissions", json=SOURCE, headers=headers), 403)["detail"]

    def test_a_role_taken_away_takes_its_scopes(self, api):
        viewer, headers = api.person()
        with api.database.write() as session:
            from app.accounts import queries

            queries.user_by_public_id(session, viewer.public_id).roles = ["reviewer"]
        problem(api.client.post("/api/v1/submissions", json=SOURCE, headers=headers), 403)

    def test_the_last_use_is_noted(self, api):
        viewer, headers = api.person()
        api.client.get("/api/v1/tasks", headers=headers)
        with api.database.read() as session:
            from app.accounts import queries

            assert queries.list_tokens(session, viewer.id)[0].last_used_at is not None


class TestWhoSeesWhat:
    def test_another_submitter_sees_nothing(self, api):
        _, mine = api.person()
        _, other = api.person()
        made = api.client.post("/api/v1/submissions", json=SOURCE, headers=mine).json()
        evaluation = made["evaluations"][0]["id"]

        for path in (f"submissions/{made['id']}", f"evaluations/{evaluation}", f"evaluations/{evaluation}/report",
                     f"evaluations/{evaluation}/events"):  # fmt: skip
            problem(api.client.get(f"/api/v1/{path}", headers=other), 404)

    def test_the_author_never_sees_a_hidden_workload_and_reviewers_do(self, api):
        _, author = api.person()
        _, reviewer = api.person(Role.REVIEWER)
        made = api.client.post("/api/v1/submissions", json=SOURCE, headers=author).json()
        evaluation = api.evaluate(made["id"], factories.make_report(Verdict.ACCEPTED))

        path = f"/api/v1/evaluations/{evaluation}/report"
        assert "secret-tail" not in api.client.get(path, headers=author).text
        assert "secret-tail" in api.client.get(path, headers=reviewer).text
        assert "secret-tail" not in api.client.get("/api/v1/tasks/row-softmax", headers=author).text

    def test_a_reviewer_never_sees_the_author(self, api):
        viewer, author = api.person()
        _, reviewer = api.person(Role.REVIEWER)
        made = api.client.post("/api/v1/submissions", json=SOURCE, headers=author).json()
        api.evaluate(made["id"], factories.make_report())

        for path in (f"submissions/{made['id']}", "submissions", "queue"):
            text = api.client.get(f"/api/v1/{path}", headers=reviewer).text
            assert viewer.name not in text and viewer.login not in text and viewer.public_id not in text


def test_the_whole_way_over_rest(api):
    """Submit, evaluate, claim, review, decide, export; as `docs/path-of-a-kernel.md` has it."""
    from workers.jobs import export

    _, author = api.person()
    _, reviewer = api.person(Role.REVIEWER)
    _, judge = api.person(Role.ADJUDICATOR)
    made = api.client.post("/api/v1/submissions", json=SOURCE, headers=author).json()
    api.evaluate(made["id"], factories.make_report())
    claim = api.client.post("/api/v1/queue/next", headers=reviewer).json()
    review = api.client.post("/api/v1/reviews", json={"slot": claim["slot"]}, headers=reviewer).json()
    draft = {"base_version": 0, "content": {"feedback": "so far"}}
    assert api.client.put(f"/api/v1/reviews/{review['id']}/draft", json=draft, headers=reviewer).json()["version"] == 1
    path = f"/api/v1/reviews/{review['id']}/submit"
    lacking = problem(api.client.post(path, json={"token": claim["token"], "content": {}}, headers=reviewer), 422)
    assert "correct" in lacking["problems"]
    astray = factories.full_content(comments=[{"path": "solution.py", "line": 4000, "body": "Here."}])
    refused = problem(api.client.post(path, json={"content": astray}, headers=reviewer), 422)
    assert "comment 1 is on line 4000 of solution.py, which has" in refused["problems"]["comments"]
    whole = {"token": claim["token"], "content": factories.full_content()}
    assert api.client.post(path, json=whole, headers=reviewer).json()["state"] == "submitted"

    asked = api.client.post("/api/v1/exports", json={}, headers=judge)
    assert asked.status_code == 202
    export.run(api.database, api.settings, asked.json()["id"])
    done = api.client.get(f"/api/v1/exports/{asked.json()['id']}", headers=judge).json()
    file = api.client.get(f"/api/v1/exports/{asked.json()['id']}/file", headers=judge)
    assert done["manifest"]["rows"] == 1 and len(file.content) == done["manifest"]["bytes"]
    problem(api.client.get("/api/v1/exports", headers=reviewer), 403)


def test_a_review_is_corrected_over_rest(api):
    _, headers = api.person(Role.REVIEWER)
    _, others = api.person(Role.REVIEWER)
    with api.database.write() as session:
        rubrics.seed(session)
        factories.make_evaluated(session, api.settings)

    def call(method, path, body=None, who=headers):
        return api.client.request(method, f"/api/v1{path}", json=body, headers=who)

    review = call("POST", "/reviews", {"slot": call("POST", "/queue/next").json()["slot"]}).json()
    first = f"/reviews/{review['id']}"
    call("POST", f"{first}/submit", {"content": factories.full_content()})

    begun = call("POST", f"{first}/corrections")
    draft = begun.json()
    assert begun.status_code == 201 and draft["base_version"] == 0 and draft["content"]["feedback"] == "Well made."
    assert call("POST", f"{first}/corrections").json() == draft
    problem(call("POST", f"{first}/corrections", who=others), 404)
    assert call("POST", f"/reviews/{draft['review']['id']}/withdraw").json()["id"] == review["id"]
    problem(call("GET", f"/reviews/{draft['review']['id']}"), 404)

    draft = call("POST", f"{first}/corrections").json()
    second = f"/reviews/{draft['review']['id']}"
    problem(call("POST", f"{second}/submit", {"content": draft["content"] | {"decision": "revise"}}), 422)
    content = draft["content"] | {"decision": "revise", "what_changed": "The tail is wrong."}
    after = call("POST", f"{second}/submit", {"content": content}).json()

    assert (after["revision"], after["supersedes"], after["is_first_answer"]) == (2, review["id"], False)
    assert after["what_changed"] == "The tail is wrong."
    before = call("GET", first).json()
    assert (before["decision"], before["superseded_by"], before["is_first_answer"]) == ("accept", after["id"], True)
    assert [one["id"] for one in call("GET", "/reviews").json()["items"]] == [after["id"]]
    problem(call("POST", f"{first}/corrections"), 409)


class TestHouse:
    def test_health_ready_and_metrics(self, api):
        assert api.client.get("/health").json() == {"status": "ok"}
        assert api.client.get("/ready").json()["status"] == "ok"
        assert 'workbench_evaluations{state="queued"} 0.0' in api.client.get("/metrics").text

    def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere(self, api):
        policy = api.client.get("/health").headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy

    def test_the_interface_is_described(self, api):
        described = api.client.get("/api/v1/openapi.json").json()
        content = described["paths"]["/api/v1/submissions"]["post"]["requestBody"]["content"]
        assert set(content) == {"application/json", "multipart/form-data"}

    def test_an_unknown_address_is_a_problem(self, api):
        problem(api.client.get("/api/v1/nothing"), 404)

    def test_a_failing_commit_is_no_success(self, api, monkeypatch):
        """The session's end comes before the answer: a commit that fails is a 500."""
        from sqlalchemy import event
        from sqlalchemy.orm import Session

        _, headers = api.person()

        def fail(session):
            if session.new or any(isinstance(row, Submission) for row in session.identity_map.values()):
                raise RuntimeError("the disk is full")

        event.listen(Session, "before_commit", fail)
        try:
            answer = api.client.post("/api/v1/submissions", json=SOURCE, headers=headers)
        finally:
            event.remove(Session, "before_commit", fail)
        assert answer.status_code == 500
        assert api.count() == 0

    def test_events_say_only_changed(self, api):
        _, author = api.person()
        made = api.client.post("/api/v1/submissions", json=SOURCE, headers=author).json()
        evaluation = api.evaluate(made["id"], factories.make_report())
        with contextlib.closing(api.client.get(f"/api/v1/evaluations/{evaluation}/events", headers=author)) as stream:
            assert stream.text == "event: changed\ndata: changed\n\nevent: ended\ndata: ended\n\n"


def test_scopes_are_what_the_roles_allow():
    assert set(accounts.scopes_allowed(frozenset({Role.ADMIN}))) == set(SCOPES)


class TestTaskDesign:
    def test_staff_ask_for_its_review_and_reviewers_read_its_record(self, api):
        _, staff = api.person(Role.ADJUDICATOR)
        _, reviewer = api.person(Role.REVIEWER)
        _, both = api.person(Role.REVIEWER, Role.SUBMITTER)
        _, submitter = api.person()
        made = api.client.post("/api/v1/submissions", json=SOURCE, headers=submitter).json()
        api.evaluate(made["id"], factories.make_report())
        where = "/api/v1/tasks/row-softmax"

        asked = api.client.post(f"{where}/reviews", json={"reason": "it is new"}, headers=staff)
        again = api.client.post(f"{where}/reviews", json={"reason": "it is new"}, headers=staff)
        health = api.client.get(f"{where}/health", headers=reviewer).json()
        public = api.client.get(f"{where}/health", headers=both).text

        assert asked.status_code == 201 and asked.json()["is_open"]
        assert again.json()["subject"] == asked.json()["subject"]
        assert health["verdicts"] == {"accepted": 1} and "secret-tail" in str(health)
        assert "secret-tail" not in public and '"small"' in public
        problem(api.client.post(f"{where}/reviews", json={"reason": "me"}, headers=reviewer), 403)
        problem(api.client.get(f"{where}/health", headers=submitter), 403)
        problem(api.client.post(f"{where}/reviews", json={"reason": " "}, headers=staff), 422)
