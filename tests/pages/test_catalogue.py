"""The catalogue of failure modes: every code, findable, with examples that the viewer may see."""

from __future__ import annotations

from app.domain.findings import REGISTER
from app.home.catalogue import contains
from tests import factories
from tests.pages import sample_reports


def entry_of(page: str, code: str) -> str:
    return page.partition(f'<article id="{code}">')[2].partition("</article>")[0]


def test_every_code_has_its_place_with_cause_confirmation_and_advice(full_house):
    page = full_house.browser("sue").get("/catalogue").text

    assert [code for code in REGISTER if page.count(f'<article id="{code}">') != 1] == []
    assert "See for yourself:" in entry_of(page, "numerics.wrong_values")
    assert "Tell the author:" in entry_of(page, "numerics.wrong_values")


def test_every_finding_of_a_report_leads_to_its_place(full_house):
    page = full_house.browser("rob").get(f"/submissions/{full_house.submissions['wrong_result']}").text

    for finding in sample_reports.wrong_result().findings:
        assert f'href="/catalogue#{finding.code}"' in page


def test_words_are_looked_for_in_all_that_is_said(full_house):
    page = full_house.browser("rob").get("/catalogue", params={"q": "TAIL mask"}).text

    assert '<article id="runtime.out_of_bounds">' in page
    assert '<article id="compile.error">' not in page
    assert "No failure mode has these words" in full_house.browser("rob").get("/catalogue?q=zebra").text
    assert all(contains(kind, kind.code) and contains(kind, "") for kind in REGISTER.values())


def test_examples_count_each_submission_once_and_by_its_newest_report(full_house):
    code = "numerics.wrong_values"
    with_it = {name for name, make in sample_reports.ALL.items() if code in {f.code for f in make().findings}}

    entry = entry_of(full_house.browser("rob").get("/catalogue").text, code)

    assert f"Seen in {len(with_it)}:" in entry
    assert full_house.submissions["wrong_result"] in entry


def test_a_submitter_gets_no_example_of_anothers_work(full_house):
    with full_house.database.write() as session:
        other = factories.make_viewer(session, login="otto")
        factories.make_evaluated(
            session, full_house.settings, report=sample_reports.wrong_result(), author=other, title="not sue's",
            task=factories.make_task(session, full_house.settings),
        )  # fmt: skip
    vera = full_house.browser("vera").get("/catalogue").text
    sue = full_house.browser("sue").get("/catalogue").text

    assert "not sue&#39;s" in vera
    assert "not sue&#39;s" not in sue and full_house.submissions["wrong_result"] in sue
