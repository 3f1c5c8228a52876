"""The bench's pages: a form that works without scripts, fragments for htmx, and nobody else's experiments."""

from __future__ import annotations

import re

import pytest

from tests import factories
from tests.pages.test_reviewing import FULL, claimed
from workers.jobs import experiment as job

ASKED = {"target": "submission", "param.rows": "4", "param.cols": "127", "seed": "7", "family": "", "rtol": "0.5"}


@pytest.fixture
def bench(full_house):
    browser, page = claimed(full_house)
    return browser, f"{page.url.path}/bench"


def test_the_form_knows_the_parameters_and_no_hidden_value(bench):
    browser, path = bench
    page = browser.get(path).text

    assert 'name="param.cols" value="8"' in page and "secret-tail" not in page
    assert "No experiments yet" in page and "the parent" not in page


def test_asked_run_cited_and_proposed(full_house, bench):
    browser, path = bench
    page = browser.post(path, ASKED)
    assert page.url.path == path and "queued" in page.text
    (found,) = set(re.findall(r"/experiments/(xpr_\w+)", page.text))
    job.run(full_house.database, full_house.settings, lambda: lambda *_: factories.make_report(), found)

    page = browser.get(path).text
    assert f'id="experiment.{found}"' in page and f'data-cite="experiment.{found}"' in page and "Accepted" in page
    page = browser.get(f"/experiments/{found}").text
    assert "Reviewer experiment" in page and "no verdict on the submission" in page
    page = browser.post(f"/experiments/{found}/propose", {"reason": "the tail at 127"}).text
    assert "as a hidden workload" in page

    listed = full_house.browser("max").get("/experiments").text
    assert "the tail at 127" in listed and "cols = 127" in listed
    for other in ("ria", "vera", "sue"):
        browser = full_house.browser(other)
        assert browser.get(path).status_code == browser.get(f"/experiments/{found}").status_code == 404
    assert full_house.browser("rob").get("/experiments").status_code == 403


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"seed": "x"}, "is no whole number"),
        ({"rtol": "-1"}, "is no number of 0 or more"),
        ({"param.cols": "null"}, "cols cannot be null"),
        ({"param.cols": "1" * 20}, "cols cannot be"),
        ({"param.cols": "[" * 300}, "more than 200 characters"),
        ({"family": "odd"}, "unknown values"),
        ({"target": "parent"}, "no revision of another"),
    ],
)
def test_a_refusal_says_why_and_keeps_what_was_typed(bench, typed, said):
    browser, path = bench
    page = browser.post(path, {**ASKED, "atol": "0.125", **typed})

    assert page.status_code == 422 and said in page.text and 'value="0.125"' in page.text


def test_htmx_gets_the_history_alone_and_sees_a_refusal(bench):
    browser, path = bench
    made = browser.post(path, ASKED, headers={"HX-Request": "true"})
    refused = browser.post(path, {**ASKED, "seed": "x"}, headers={"HX-Request": "true"})

    assert "<form" not in made.text and f'hx-get="{path}/history"' in made.text
    assert refused.status_code == 200 and "is no whole number" in refused.text
    assert browser.get(f"{path}/history").text.lstrip().startswith('<div id="bench-history"')


def test_a_submitted_review_keeps_its_experiments(bench):
    browser, path = bench
    browser.post(f"{path.removesuffix('/bench')}/submit", FULL)
    page = browser.get(path).text

    assert "keeps its experiments" in page and "bench-form" not in page
    assert browser.post(path, ASKED).status_code == 403
