"""Comments on the review page: typed without scripts, shown at their lines, read with them, and taken over."""

from __future__ import annotations

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.reviews import service as reviews
from app.submissions import queries as submission_queries
from tests import factories
from tests.pages import sample_reports
from tests.pages.test_reviewing import FULL, claimed

HTML = {"Accept": "text/html"}
COMMENT = {
    "comment.path": "solution.py", "comment.line": "3", "comment.end": "5", "comment.body": "Mask **these** lines.",
    "comment.criterion": "correct", "comment.severity": "must_change", "comment.category": "correctness",
    "comment.evidence": "finding.1, stage.correctness",
}  # fmt: skip


def test_a_draft_saved_without_scripts_comes_back_as_a_page_with_all_of_it(full_house):
    browser, page = claimed(full_house)

    again = browser.post(f"{page.url.path}/draft", {"version": "0", **COMMENT}, headers=HTML)

    assert again.url.path == page.url.path
    for typed in (
        'value="3"',
        'value="5"',
        "Mask **these** lines.",
        'value="must_change" selected',
        'value="correctness" selected',
        'value="correct" selected',
        'value="finding.1 stage.correctness"',
    ):
        assert typed in again.text, typed
    assert "solution.py:3-5: Mask **these** lines." in again.text.split('id="source"')[1].split('id="rubric"')[0]


def test_a_draft_saved_without_scripts_over_a_newer_one_shows_both(full_house):
    browser, page = claimed(full_house)
    browser.post(f"{page.url.path}/draft", {"version": "0", "feedback": "from the desk"})

    shown = browser.post(f"{page.url.path}/draft", {"version": "0", "feedback": "from the phone"}, headers=HTML)

    assert shown.status_code == 409
    assert "from the desk" in shown.text and "from the phone" in shown.text


def test_a_published_comment_is_read_with_its_lines(full_house):
    browser, page = claimed(full_house)

    read = browser.post(f"{page.url.path}/submit", {"version": "0", **FULL, **COMMENT}).text

    lines = sample_reports.SOURCE.split("\n")[2:5]
    assert "solution.py:3-5" in read and "<strong>these</strong>" in read
    assert all(line.split("(")[0] in read.split('class="snippet"')[1].split("</pre>")[0] for line in lines)
    assert "must change" in read.lower()


def test_a_comment_on_no_file_of_the_submission_is_refused_with_its_place(full_house):
    browser, page = claimed(full_house)

    refused = browser.post(f"{page.url.path}/submit", {"version": "0", **FULL, "comment.path": "other.py"})

    assert refused.status_code == 422
    assert 'href="#comments"' in refused.text and "other.py, which is not in the submission" in refused.text


def test_a_comment_past_the_end_of_its_file_is_refused_and_kept(full_house):
    browser, page = claimed(full_house)
    lines = len(sample_reports.SOURCE.removesuffix("\n").split("\n")) + 1  # the house writes one below

    refused = browser.post(f"{page.url.path}/submit", {"version": "0", **FULL, "comment.line": "4000"})

    assert refused.status_code == 422 and 'href="#comments"' in refused.text
    assert f"comment 1 is on line 4000 of solution.py, which has {lines} lines" in refused.text
    assert 'value="4000"' in refused.text and 'value="4000"' in browser.get(page.url.path).text


def test_looking_at_a_review_writes_nothing(full_house):
    """Complaint 12 (Submitty#12223): looking at a graded component changed who had graded it."""
    browser, page = claimed(full_house)
    browser.post(f"{page.url.path}/draft", {"version": "0", **COMMENT})
    before = _dump(full_house)

    for _ in range(2):
        assert browser.get(page.url.path).status_code == 200

    assert _dump(full_house) == before


def test_what_was_said_on_the_revision_before_is_shown_and_said_again(house):
    with house.database.write() as session:
        task = factories.make_task(session, house.settings)
        made = {"author": house.viewers["sue"], "task": task}
        old, *_ = factories.make_evaluated(session, house.settings, source="import triton\nx = 1\ny = 2\n", **made)
        new, *_ = factories.make_evaluated(
            session, house.settings, source="import triton\n\ny = 2\n", parent=old.public_id, **made
        )
        draft = _open(session, house, old)
        typed = [{"path": "solution.py", "line": line, "body": f"about line {line}"} for line in (2, 3)]
        reviews.save_draft(session, house.viewers["rob"], draft, {"comments": typed}, base_version=0)
        review_id = _open(session, house, new).public_id
    browser = house.browser("rob")

    page = browser.get(f"/reviews/{review_id}").text
    gone = page.split("Outdated: their lines are gone")[1].split("</details>")[0]
    key = page.split(f"/reviews/{review_id}/carry/")[1].split('"')[0]
    again = browser.post(
        f"/reviews/{review_id}/carry/{key}", {"version": "0", "feedback": "typed beside"}, headers=HTML
    )

    assert "about line 2" in gone and "x = 1" in gone and "about line 3" not in gone
    assert "about line 3" in again.text.split('name="comment.body"')[1].split("</textarea>")[0]
    assert "typed beside" in again.text
    assert browser.post(f"/reviews/{review_id}/carry/rev_x.9", {"version": "1"}).status_code == 404


def _open(session, house, submission):
    subject = submission_queries.subject_of(session, submission.id)
    slot = assignment_queries.slots_of(session, subject.id)[0]
    slot = assignment_queries.find_slot(session, slot.public_id)
    claim = assignments.claim_slot(session, house.settings, house.viewers["rob"], slot)
    return reviews.open_review(session, house.viewers["rob"], claim.slot)


def _dump(house):
    from app.models import Base

    with house.database.read() as session:
        return {
            table.name: [tuple(map(str, row)) for row in session.execute(table.select())]
            for table in Base.metadata.sorted_tables
        }


def test_the_source_is_compared_with_the_reference_and_never_with_what_names_hidden_workloads(full_house):
    browser, page = claimed(full_house)

    diff = browser.get(f"{page.url.path}/source?against=reference.py").text
    sides = browser.get(f"{page.url.path}/source?against=reference.py&view=sides").text
    odd = browser.get(f"{page.url.path}/source?against=task.toml").text

    assert f'href="{page.url.path}/source?against=reference.py"' in page.text
    assert "make_inputs" in diff and 'class="code diff"' in diff and 'id="new-solution-py-L1"' in sides
    for text in (diff, sides, odd):
        assert "secret-tail" not in text and "task.toml" not in text
    assert full_house.browser("ria").get(f"{page.url.path}/source").status_code == 404
