"""Linked ranges: validated against both sources, kept with the draft, published, tabled and exported."""

from __future__ import annotations

import json

import pytest

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.review import Role
from app.exports import queries as export_queries
from app.exports import service as exports
from app.reviews import links, queries, service
from app.reviews.differing import differences, taken
from app.reviews.service import ReviewIncomplete
from app.rubrics import service as rubrics
from app.submissions.outline import features
from app.tasks import service as tasks
from tests import factories
from workers.jobs import export as export_job

CUDA = """\
#include <cuda.h>
// kernel() { in a comment
/* __global__ void gone() { } */
template <typename T>
__global__ void __launch_bounds__(256) scale(
    T* x, float by) {
  if (by > 0) { x[0] *= by; }
}
namespace { struct Pair { int a; };
static int half(int n) { return n / 2; }
}
const char* text = "void no() {";
extern "C" void launch(float* x) {
  scale<<<1, 256>>>(x, half(2));
}
int declared(int n);
"""
TARGET = "import triton\n\n@triton.jit\ndef scale(x, by):\n    pass\n\ndef launch(x):\n    return x\n"


def link(start=4, end=8, right=(3, 5), how="translated", note="", path="source.cu"):
    first, last = right or (None, None)
    return {
        "left_path": path, "left_start": start, "left_end": end, "right_path": "solution.py" if right else None,
        "right_start": first, "right_end": last, "how": how, "note": note,
    }  # fmt: skip


class House:
    """A translation whose source is CUDA, submitted once, with a review of it open."""

    def __init__(self, database, settings):
        self.database, self.settings = database, settings
        with database.write() as session:
            rubrics.seed(session)
            self.reviewer = factories.make_reviewer(session)
            tree = factories.task_tree(kind="translation") | {"source.cu": CUDA.encode()}
            task = tasks.upload(session, settings, tree, actor_id=None)
            _, _, slots = factories.make_evaluated(session, settings, task=task, source=TARGET)
            slot = assignment_queries.find_slot(session, slots[0].public_id)
            claim = assignments.claim_slot(session, settings, self.reviewer, slot)
            self.review = service.open_review(session, self.reviewer, claim.slot).public_id

    def change(self, change):
        with self.database.write() as session:
            service.change_links(session, self.reviewer, queries.find(session, self.review), change)

    def draft(self):
        with self.database.read() as session:
            draft = queries.draft_of(session, queries.find(session, self.review))
            return draft.version, dict(draft.content)

    def submit(self, *made):
        with self.database.write() as session:
            review = queries.find(session, self.review)
            content = _translation(review, links=list(made))
            return service.submit_review(session, self.settings, self.reviewer, review, content)


def _translation(review, **overrides):
    """A complete review by the rubric that this review has."""
    criteria = review.rubric_version.content["criteria"]
    levels = {c["key"]: sorted(int(level) for level in c["levels"]) for c in criteria}
    scores = {
        k: {"level": 2 if 2 in found else found[-1], "rationale": "", "evidence": []} for k, found in levels.items()
    }
    return {"scores": scores, "feedback": "Well made.", "decision": "accept", "confidence": 2} | overrides


@pytest.fixture
def house(each_database, each_settings):
    return House(each_database, each_settings)


class TestSubmit:
    def test_links_come_out_with_the_review(self, house):
        made = [link(note="one program a block"), link(10, 10, None, how="dropped"), link(13, 15, (7, 8))]
        assert house.submit(*made).links == made

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            (link(4, 40), "link 1 goes to line 40 of source.cu, which has 16 lines"),
            (link(right=(3, 9)), "link 1 goes to line 9 of solution.py, which has 8 lines"),
            (link(8, 4), "link 1 ends on line 4 of source.cu, before it starts on line 8"),
            (link(path="other.cu"), "link 1 names other.cu, which is no text of the task"),
            (link(path="task.toml"), "link 1 names task.toml, which is no text of the task"),
            (link(right=None), "link 1 names no lines of the target"),
            (link(how="dropped"), "says that its lines were dropped, and names a target"),
        ],
    )
    def test_what_leads_nowhere_is_refused_by_name(self, house, wrong, words):
        with pytest.raises(ReviewIncomplete) as caught:
            house.submit(wrong)
        assert words in caught.value.details["problems"]["links"]

    def test_an_export_holds_both_sides(self, house):
        house.submit(link(10, 10, (7, 8), how="called_through", note="why"))
        with house.database.write() as session:
            judge = factories.make_viewer(session, Role.ADJUDICATOR)
            export_id = exports.request_export(session, judge).public_id
        export_job.run(house.database, house.settings, export_id)
        with house.database.read() as session:
            data = exports.file_of(house.settings, export_queries.find(session, export_id)).read_text()
        assert json.loads(data)["review"]["links"] == [
            {"number": 1, **link(10, 10, (7, 8), how="called_through", note="why"),
             "left_snippet": "static int half(int n) { return n / 2; }",
             "right_snippet": "def launch(x):\n    return x"}
        ]  # fmt: skip


class TestDraft:
    def test_a_change_of_links_leaves_every_other_word(self, house):
        with house.database.write() as session:
            review = queries.find(session, house.review)
            service.save_draft(session, house.reviewer, review, {"feedback": "so far"}, base_version=0)
        house.change(lambda made: [*made, link()])
        assert house.draft() == (2, {"feedback": "so far", "links": [link()]})

    def test_a_page_that_does_not_know_of_it_is_told_and_may_take_it(self, house):
        house.change(lambda made: [*made, link()])
        with house.database.write() as session:
            review = queries.find(session, house.review)
            saved = service.save_draft(session, house.reviewer, review, {"feedback": "mine"}, base_version=0)
        (one,) = (d for d in differences({"feedback": "mine"}, saved.conflict, {}, {}) if d.key.startswith("links"))
        assert one.title == "Link from source.cu:4-8" and not one.in_mine
        assert one.parts[0].theirs == "translated solution.py:3-5"
        assert taken({"feedback": "mine"}, saved.conflict, one.key)["links"] == [link()]


class TestTable:
    def test_every_part_of_the_source_has_an_answer_or_is_not_linked(self):
        made = links.numbered([link(), link(6, 7, (5, 5), how="called_through"), link(1, 1, None, how="dropped")])
        (table,) = links.tables(made, {"source.cu": CUDA.splitlines()})
        assert [(row.name, row.fate) for row in table.rows] == [
            ("lines 1", "dropped"), ("scale", "translated, called through"), ("half", "not linked"),
            ("launch", "not linked"),
        ]  # fmt: skip
        assert table.linked == 2

    def test_of_a_language_that_is_not_read_only_links_are_listed_and_that_is_said(self):
        (table,) = links.tables(links.numbered([link(1, 2, path="a.mlir")]), {"a.mlir": ["x", "y"]})
        assert not table.is_read and [row.name for row in table.rows] == ["lines 1-2"]

    def test_a_mark_leads_to_the_other_side_where_it_is_shown(self):
        made = links.numbered([link()])
        shown = links.marks(made, "left", "source.cu", "solution.py", "new-solution-py")
        assert sorted(shown) == [4, 5, 6, 7, 8]
        assert [(m[0].is_first, m[0].href) for m in shown.values()][:2] == [
            (True, "#new-solution-py-L3"), (False, "#new-solution-py-L3"),
        ]  # fmt: skip
        assert links.marks(made, "right", "solution.py", "other.cu", "x")[3][0].href == ""


class TestFeatures:
    def test_of_cuda(self):
        found = features("source.cu", CUDA.splitlines())
        assert [(f.name, f.kind, f.start, f.end) for f in found] == [
            ("scale", "kernel", 4, 8), ("half", "function", 10, 10), ("launch", "function", 13, 15),
        ]  # fmt: skip

    def test_of_python(self):
        text = (
            "import x\n\n@triton.autotune(\n    configs=[],\n)\n@triton.jit\ndef kernel(\n    a,\n):\n    # inside\n"
            "# at the edge\n    return a\n\n\nclass Model(Base):\n    def forward(self):\n        pass\n\n"
            "async def go(): pass\nx = 1\n"
        )
        found = features("ref.py", text.splitlines())
        assert [(f.name, f.kind, f.start, f.end) for f in found] == [
            ("kernel", "kernel", 3, 12), ("Model", "class", 15, 17), ("go", "function", 19, 19),
        ]  # fmt: skip

    def test_of_another_language_there_is_none(self):
        assert features("notes.md", ["def f():"]) is None and features("empty.py", [""]) == []

    @pytest.mark.parametrize(
        "text", ["{" * 5000, "}" * 50, "(" * 5000 + "{", "/*" * 999, '"' * 999, "@" * 999, "def f(" * 999]
    )
    def test_any_text_can_be_read(self, text):
        for path in ("a.cu", "a.py"):
            assert features(path, [text] * 20) is not None
