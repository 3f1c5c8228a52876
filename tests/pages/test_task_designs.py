"""A task's design through the same queue and page as a submission."""

import json
import re

import pytest
from starlette.testclient import TestClient

from app.accounts import service as accounts
from app.domain.report import Finding, Severity, StageName
from app.rubrics import content, service
from tests import factories
from tests.pages.test_reviewing import FULL, claimed

SHORTCUT = Finding("task.shortcut", Severity.ERROR, StageName.CORRECTNESS, "zeros pass", workload="secret-tail")


@pytest.fixture
def designed(house):
    """A task on which one submission was evaluated, its design in the queue."""
    with house.database.write() as session:
        service.seed(session)
        task = factories.make_task(session, house.settings)
        report = factories.make_report(findings=(SHORTCUT,))
        factories.make_evaluated(session, house.settings, report=report, author=house.viewers["sue"], task=task)
    admin = house.browser("max")
    admin.get("/tasks/row-softmax/reviews")
    answer = admin.post("/tasks/row-softmax/reviews?version=1", {"reason": "it is new"})
    assert answer.status_code == 200 and "2 are still wanted" in answer.text, answer.text[:500]
    return house


def opened(house, login="rob"):
    browser = house.browser(login)
    slot = re.search(r"/queue/(slt_\w+)/claim", browser.get("/queue?subject=task_version").text)[1]
    return browser, browser.post(f"/queue/{slot}/claim")


def answers(**overrides):
    rubric = content.read_yaml((service.DATA / "task-design.yaml").read_text())
    given = {}
    for criterion in rubric.criteria:
        given |= {
            f"score.{criterion.key}": "1", f"rationale.{criterion.key}": "see there",
            f"evidence.{criterion.key}": "health.task-shortcut",
        }  # fmt: skip
    given |= {"score.licence_leak": "3", "score.cheat_resistance": "0"}
    return given | {"feedback": "Zeros pass: bind the tail.", "decision": "revise", "confidence": "3"} | overrides


def test_the_queue_has_it_with_its_own_reason_and_kind(designed):
    browser = designed.browser("rob")

    page = browser.get("/queue?subject=task_version").text
    submissions = browser.get("/queue?subject=submission").text

    assert "it was asked for: it is new" in page and "task design" in page
    assert page.count("Why this item:") == 1 == submissions.count("Why this item:")
    assert "it was asked for" not in submissions and "No verdict yet" not in page


def test_the_first_screen_shows_the_record_of_all_evaluations(designed):
    _, page = opened(designed)

    assert "1 evaluation" in page.text and "The task can be short-cut" in page.text
    assert "whether the same submission gets the same verdict again" in page.text
    assert page.text.index("Not checked:") < page.text.index("Faults of the task") < page.text.index('id="rubric"')
    assert "There is no report" not in page.text and "Figures to insert" not in page.text
    assert "Capped at level 0" in page.text, "the fault caps what it speaks of"
    assert re.search(r'data-cite="task\.workload\.small"', page.text)
    assert "secret-tail" in page.text and 'data-file="task.toml"' in page.text


def test_a_reviewer_who_may_submit_sees_no_hidden_workload(designed):
    _, page = opened(designed, "vera")

    assert page.status_code == 200 and "Faults of the task" in page.text
    assert "secret-tail" not in page.text and 'data-file="task.toml"' not in page.text


def test_it_is_reviewed_read_and_decided(designed):
    browser, page = opened(designed)
    at = page.url.path
    said = {"comment.path": "task.toml", "comment.line": "9", "comment.body": "Bind this."}

    above = browser.post(f"{at}/submit", answers(**{"score.cheat_resistance": "3"}, version="0"))
    cheat = browser.post(f"{at}/submit", answers(decision="reject_integrity", version="1"))
    beyond = browser.post(f"{at}/submit", answers(version="2", **said | {"comment.line": "900"}))
    done = browser.post(f"{at}/submit", answers(version="3", **said))

    assert above.status_code == cheat.status_code == beyond.status_code == 422
    assert "here the decisions are accept, accept_with_notes" in cheat.text
    assert "line 900 of task.toml" in beyond.text
    assert done.status_code == 200 and "Its record then" in done.text and "1 kind of fault seen" in done.text

    ada = designed.browser("ada")
    page = ada.get("/tasks/row-softmax/reviews")
    assert "Scores side by side" in page.text
    decided = ada.post("/tasks/row-softmax/decide?version=1", {"decision": "revise", "confidence": "3", "reason": "so"})
    assert "Decided:" in decided.text


def test_its_lines_are_linked_with_nothing(designed):
    browser, page = opened(designed)
    link = {"left_path": "reference.py", "left_start": "1", "left_end": "1", "how": "dropped"}

    added = browser.post(f"{page.url.path}/links", link)
    sent = browser.post(f"{page.url.path}/submit", answers(version="0", **{f"link.{k}": v for k, v in link.items()}))

    assert added.status_code == 404 and "of no submission" in added.text
    assert sent.status_code == 422 and "of no submission that lines" in sent.text


def test_staff_are_offered_one_more_review_only_once_all_are_in(designed):
    page = designed.browser("ada").get("/tasks/row-softmax/reviews").text

    assert "It is in the queue" in page and "2 are still wanted" in page and "Ask for one more review" not in page


def test_over_rest_a_review_cites_no_workload_that_its_reader_may_not_see(designed):
    client, read = TestClient(designed.app), {}
    for login in ("rob", "vera", "ada"):
        with designed.database.write() as session:
            viewer = designed.viewers[login]
            _, secret = accounts.create_token(session, designed.settings, viewer, name="t", scopes=["read"])
        read[login] = {"Authorization": f"Bearer {secret}"}
    said = {"evidence.workloads": "task.workload.secret-tail"}
    browser, page = opened(designed)
    assert browser.post(f"{page.url.path}/submit", answers(version="0", **said)).status_code == 200
    other, own = opened(designed, "vera")
    assert other.post(f"{own.url.path}/submit", answers(version="0")).status_code == 200

    cited = {
        login: client.get(f"/api/v1{page.url.path}", headers=headers).json()["scores"]["workloads"]["evidence"]
        for login, headers in read.items()
    }

    assert cited["rob"] == cited["ada"] == ["task.workload.secret-tail"]
    assert cited["vera"] == ["a hidden workload"]


def test_others_stay_blind_until_theirs_is_in(designed):
    browser, page = opened(designed)
    browser.post(f"{page.url.path}/submit", answers(version="0"))

    other = designed.browser("ria").get("/tasks/row-softmax/reviews").text
    submitter = designed.browser("sue").get("/tasks/row-softmax/reviews")

    assert "No review that you may see" in other and "Zeros pass" not in other
    assert submitter.status_code == 403


def test_a_review_that_cannot_judge_for_the_tasks_sake_opens_the_design(house):
    with house.database.write() as session:
        service.seed(session)
        task = factories.make_task(session, house.settings)
        factories.make_evaluated(session, house.settings, author=house.viewers["sue"], task=task)
    browser, page = claimed(house)
    given = FULL | {
        "score.judgeable": "0", "rationale.judgeable": "The statement leaves the axis open.",
        "evidence.judgeable": "finding.1", "decision": "task_defect", "comment.body": "", "version": "0",
    }  # fmt: skip
    sent = browser.post(f"{page.url.path}/submit", given)
    assert sent.url.path == page.url.path and "task defect" in sent.text, sent.text[:2000]

    queue = house.browser("ria").get("/queue?subject=task_version").text
    for_ria = house.browser("ria").get("/tasks/row-softmax/reviews").text
    for_rob = browser.get("/tasks/row-softmax/reviews").text

    assert "a reviewer of a submission says that the task has a defect" in queue
    assert "a review that you may not read yet" in for_ria and "axis open" not in for_ria
    assert "The statement leaves the axis open." in for_rob


def test_it_is_exported_with_the_record_that_it_went_by(designed):
    from app.exports.rows import review_row
    from app.reviews import queries

    browser, page = opened(designed)
    done = browser.post(
        f"{page.url.path}/submit",
        answers(version="0", **{"comment.path": "reference.py", "comment.line": "4", "comment.body": "?"}),
    )
    assert done.status_code == 200
    with designed.database.read() as session:
        row = review_row(designed.settings, queries.find(session, page.url.path.split("/")[-1]), None)

    assert row["subject"]["kind"] == "task_version" and row["submission"] is None
    assert row["review"]["health"]["faults"][0]["code"] == "task.shortcut"
    assert row["review"]["comments"][0]["snippet"] == "def reference(x):"
    json.dumps(row)


def test_texts_to_insert_are_of_the_task_and_of_its_record_first(designed):
    browser, page = opened(designed)
    offers = browser.get(f"{page.url.path}/snippets", headers={"Accept": "application/json"}).json()
    assert (offers[0]["group"], offers[0]["title"]) == (
        "For what was found here",
        "Workloads that a wrong kernel passes",
    )
    assert {one["group"] for one in offers[1:]} == {"The task itself", "Thanks and next steps", "Figures"}
