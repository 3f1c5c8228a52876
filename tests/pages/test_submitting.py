"""Uploading, and what a submitter sees of their own: never the hidden workloads, never another's work."""

from __future__ import annotations

import io
import zipfile

SOURCE = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n"


def test_a_pasted_source_becomes_a_submission(full_house):
    browser = full_house.browser("sue")
    browser.get("/submissions/new")

    page = browser.post("/submissions/new", {"task": "row-softmax", "source": SOURCE, "title": "pasted"})

    assert page.url.path.startswith("/submissions/sub_")
    assert "pasted" in page.text and "triton by Sue" in page.text
    assert 'data-live="yes"' in page.text and "Waiting for a worker" in page.text


def test_an_archive_is_unpacked(full_house):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("kernel/main.py", SOURCE)
        archive.writestr("kernel/part.py", "x = 1\n")
    browser = full_house.browser("sue")
    browser.get("/submissions/new")

    page = browser.post("/submissions/new", {"task": "row-softmax"}, files={"files": ("k.zip", packed.getvalue())})

    assert "main.py" in page.text and "part.py" in page.text


def test_the_same_bytes_again_are_the_same_submission(full_house):
    browser = full_house.browser("sue")
    browser.get("/submissions/new")
    first = browser.post("/submissions/new", {"task": "row-softmax", "source": SOURCE})
    browser.get("/submissions/new")

    second = browser.post("/submissions/new", {"task": "row-softmax", "source": SOURCE})

    assert second.url.path == first.url.path
    assert "these very bytes before" in second.text


def test_a_refused_upload_keeps_every_typed_field(full_house):
    typed = {
        "task": "row-softmax",
        "framework": "nki",
        "title": "my title",
        "explanation": "my explanation",
        "model_name": "my model",
        "model_settings": "my settings",
        "prompt": "my prompt",
        "filename": "mine.py",
        "source": "import torch  # my source",
    }
    browser = full_house.browser("sue")
    browser.get("/submissions/new")

    page = browser.post("/submissions/new", typed)

    assert page.status_code == 422
    assert "does not take nki" in page.text
    for value in (
        "my title",
        "my explanation",
        "my model",
        "my settings",
        "my prompt",
        "mine.py",
        "import torch  # my source",
    ):
        assert value in page.text, value
    assert '<option value="nki" selected>' in page.text


def test_a_refused_file_comes_back_in_the_box(full_house):
    browser = full_house.browser("sue")
    browser.get("/submissions/new")

    page = browser.post("/submissions/new", {"framework": "triton"}, files={"files": ("mine.py", SOURCE.encode())})

    assert page.status_code == 422
    assert "no task is chosen" in page.text
    assert "def k(x):" in page.text and "mine.py" in page.text


def test_hidden_workloads_stay_hidden_from_the_author(full_house):
    own = full_house.submissions["wrong_result"]

    author, reviewer = (full_house.browser(who).get(f"/submissions/{own}").text for who in ("sue", "rob"))

    assert "n1000" in reviewer
    assert "n1000" not in author and "hidden-1" in author
    assert "secret-tail" not in full_house.browser("sue").get("/tasks/row-softmax").text
    assert "secret-tail" not in full_house.browser("vera").get("/tasks/row-softmax").text
    assert "secret-tail" in full_house.browser("rob").get("/tasks/row-softmax").text


def test_another_submitter_finds_nothing(full_house):
    with full_house.database.write() as session:
        from tests import factories

        other = factories.make_submission(session, full_house.settings).public_id

    assert full_house.browser("sue").get(f"/submissions/{other}").status_code == 404


def test_the_fragment_is_the_live_part_alone(full_house):
    browser = full_house.browser("sue")

    fragment = browser.get(f"/submissions/{full_house.submissions['accepted']}", headers={"HX-Request": "true"})

    assert "<html" not in fragment.text
    assert 'data-live="no"' in fragment.text and "Numerics" in fragment.text


def test_what_was_not_measured_is_neither_pass_nor_fail(full_house):
    page = full_house.browser("sue").get(f"/submissions/{full_house.submissions['accepted']}").text

    assert page.count("This is neither a pass nor a fail.") == 2
    assert "Not measured here." in page and "No CUDA device on this machine." in page


def test_whoever_may_submit_sees_no_hidden_workload_of_anybody(full_house):
    """A reviewer who also submits could send what they had read in another's report."""
    public_id = full_house.submissions["wrong_result"]
    reviews_only = full_house.browser("rob").get(f"/submissions/{public_id}").text
    does_both = full_house.browser("vera").get(f"/submissions/{public_id}").text

    assert "n1000" in reviews_only
    assert "n1000" not in does_both and "hidden-1" in does_both


def test_submissions_are_found_by_framework_state_and_verdict(full_house):
    browser = full_house.browser("rob")
    everything = {s for s in full_house.submissions.values() if s in browser.get("/submissions").text}
    wrong = {s for s in everything if s in browser.get("/submissions?verdict=wrong_result&state=done").text}

    assert full_house.submissions["wrong_result"] in wrong and wrong < everything
    assert "Nothing matches these filters" in browser.get("/submissions?framework=hip").text


def test_a_reviewer_who_has_still_to_review_sees_no_decision(full_house):
    from app.domain.review import Decision
    from app.reviews import service as reviews
    from app.submissions import queries

    public_id = full_house.submissions["wrong_result"]
    with full_house.database.write() as session:
        subject = queries.subject_of(session, queries.find(session, public_id).id)
        reviews.decide(
            session,
            full_house.viewers["ada"],
            subject.id,
            decision=Decision.REJECT,
            confidence=3,
            reason="tail unwritten",
        )

    said = {
        n: "tail unwritten" in full_house.browser(n).get(f"/submissions/{public_id}/reviews").text
        for n in ("rob", "sue", "ada")
    }
    assert said == {"rob": False, "sue": True, "ada": True}
