"""What a task's own check decided is labelled so on the page, and gradients are rows there."""

from __future__ import annotations

from app.domain.report import OutputResult
from tests import factories
from tests.pages import sample_reports


def test_who_decided_reaches_the_page(house):
    checked = OutputResult("out", (4,), "int64", True, "check (task-defined)", 4)
    gradient = sample_reports.output("grad(x)")
    runs = (
        sample_reports.workload("flat", outputs=(checked,)),
        sample_reports.workload("flat", family="gradients", outputs=(gradient,)),
    )
    with house.database.write() as session:
        submission, _, _ = factories.make_evaluated(
            session, house.settings, report=sample_reports.report(workloads=runs), author=house.viewers["sue"],
            task=factories.make_task(session, house.settings), source=sample_reports.SOURCE, title="Flat",
        )  # fmt: skip
        public_id = submission.public_id

    text = house.browser("sue").get(f"/submissions/{public_id}").text

    assert "check (task-defined)" in text
    assert "grad(x)" in text and ">gradients<" in text
