"""Texts to insert: what ships is well formed, figures are of this submission, and own texts are their owner's."""

from __future__ import annotations

import dataclasses

import pytest

from app.domain import informers
from app.domain.report import Finding, Location, Severity, StageName
from app.domain.task import KINDS
from app.errors import Invalid, NotFound
from app.models import AuditEntry, OwnSnippet
from app.reviews import boxes, own_snippets, snippets, variables
from app.reviews.hints import hints
from tests import factories
from tests.pages import sample_reports

TITLES = {"correct": "Correct"}


def known(report=None):
    return (report or sample_reports.wrong_result()).for_submitter()


def offers(report=None, subject="submission", kind="generation", own=()):
    return snippets.offered(subject, kind, report or known(), own)


class TestShipped:
    def test_names_are_apart_and_lead_somewhere(self):
        texts = snippets.shipped()
        assert len({one.key for one in texts}) == len({one.title for one in texts}) == len(texts) >= 40
        for one in texts:
            assert all(informers.is_code(rule) for rule in one.fits), one.key
            assert set(one.kinds) <= set(KINDS) and set(one.about) <= {"submission", "task_version"}, one.key
            assert variables.unknown([one.text]) == [], one.key

    def test_every_one_asks_for_no_more_than_a_screen(self):
        assert [one.key for one in snippets.shipped() if len(one.text) > 500 or len(one.title) > 60] == []

    def test_a_task_is_told_of_the_task_and_a_kind_what_is_its_own(self):
        about_tasks = {one.key for one in offers(subject="task_version")}
        assert "task-tolerance" in about_tasks and "tail" not in about_tasks
        assert "debugging-symptom" in {one.key for one in offers(kind="debugging")} - {one.key for one in offers()}


class TestOffered:
    def test_what_was_found_comes_first_with_its_figures(self):
        first = offers()[0]
        assert first.group == snippets.FITTING and "`out[0, 96]` on `tail` is 0 where 0.01130 is right" in first.text

    def test_a_finding_is_named_only_by_a_text_that_speaks_of_it(self):
        race = Finding("runtime.race", Severity.ERROR, StageName.SANITIZE, "words", location=Location("k.cu", 9))
        report = dataclasses.replace(known(), findings=(*known().findings, race))
        by_key = {one.key: one for one in offers(report)}
        assert by_key["race"].text.startswith("`k.cu:9`: ")
        assert by_key["divergent-barrier"].text.startswith("[line: not known here]: ")
        assert by_key["divergent-barrier"].gaps == ["line"]

    def test_nothing_is_known_without_a_report(self):
        found = snippets.offered("submission", "generation", None, [])
        assert next(one for one in found if one.key == "wrong-element").gaps == [
            "wrong_element", "mismatched", "elements",
        ]  # fmt: skip

    def test_own_texts_stand_before_all_and_for_their_kind_only(self):
        own = [
            OwnSnippet(title="Mine", text="{{max_ulp}} ULP", kind=None, position=1),
            OwnSnippet(title="Fused", text="x", kind="fusion", position=2),
        ]
        found = offers(own=own)
        assert (found[0].group, found[0].text) == (snippets.OWN, "4.19\u2009\u00d7\u200910\u2076 ULP")
        assert [one.title for one in offers(own=own, kind="fusion")[:2]] == ["Mine", "Fused"]

    def test_what_a_hidden_workload_is_called_is_in_no_text(self):
        assert not any("n1000" in one.text for one in offers())


class TestBoxes:
    DRAFT = {"feedback": "Dear author,", "comments": [{"path": "a.py", "line": 3, "body": "Here."}]}  # noqa: RUF012

    def test_each_box_has_a_name_and_a_place(self):
        names = [(one.name, one.place) for one in boxes.boxes(self.DRAFT, TITLES)]
        assert names == [
            ("feedback", "feedback"), ("comment", "comment-2"), ("comment.1", "comment-1"),
            ("rationale.correct", "criterion-correct"),
        ]  # fmt: skip

    def test_a_text_stands_behind_what_was_typed_and_nothing_else_changes(self):
        def into(name):
            return boxes.written(self.DRAFT, boxes.named(name, self.DRAFT, TITLES), "Mask it.")

        assert into("feedback")["feedback"] == "Dear author,\n\nMask it."
        assert into("comment.1")["comments"] == [{"path": "a.py", "line": 3, "body": "Here.\n\nMask it."}]
        assert [one["body"] for one in into("comment")["comments"]] == ["Here.", "Mask it."]
        assert into("rationale.correct")["scores"]["correct"]["rationale"] == "Mask it."
        assert self.DRAFT["comments"] == [{"path": "a.py", "line": 3, "body": "Here."}]

    @pytest.mark.parametrize("name", ["", "comment.2", "comment.x", "rationale.none", "decision"])
    def test_a_box_that_is_not_there_is_refused(self, name):
        with pytest.raises(Invalid):
            boxes.named(name, self.DRAFT, TITLES)


class TestGapsAreHinted:
    def said(self, **given):
        draft = {"scores": {}, "comments": [], "feedback": "", "decision": "accept"} | given
        return [(hint.place, hint.says) for hint in hints(draft, TITLES, (), known())]

    def test_where_they_stand(self):
        gap = "Measured [speedup: not known here]."
        found = self.said(
            feedback=gap,
            comments=[{"path": "a.py", "body": gap}],
            scores={"correct": {"level": 2, "rationale": gap}},
        )
        assert [place for place, _ in found] == ["criterion-correct", "comment-1", "feedback"]
        assert all("[speedup: \N{HORIZONTAL ELLIPSIS}] is still to be filled in" in says for _, says in found)

    def test_a_typed_variable_without_a_value_says_how_it_will_read(self):
        [(place, says)] = self.said(feedback="It is {{speedup}} faster, {{max_ulp}} ULP off.")
        assert place == "feedback" and "{{speedup}} has no value here" in says and "not measured" in says


class TestOwn:
    @pytest.fixture
    def session(self, each_database):
        with each_database.write() as session:
            yield session

    @pytest.fixture
    def rob(self, session):
        return factories.make_reviewer(session)

    @pytest.fixture
    def other(self, session):
        return factories.make_reviewer(session)

    def titles(self, session, viewer):
        return [one.title for one in own_snippets.list_own(session, viewer)]

    def test_they_keep_the_order_that_they_are_given(self, session, rob):
        made = [own_snippets.add(session, rob, title=title, text="x") for title in "abc"]
        own_snippets.move(session, rob, made[2].public_id, -1)
        own_snippets.move(session, rob, made[0].public_id, -1)
        assert self.titles(session, rob) == ["a", "c", "b"]
        own_snippets.delete(session, rob, made[0].public_id)
        own_snippets.move(session, rob, made[2].public_id, 1)
        assert self.titles(session, rob) == ["b", "c"]

    def test_they_are_nobody_else_s(self, session, rob, other):
        made = own_snippets.add(session, rob, title="a", text="x")
        assert self.titles(session, other) == []
        for act in (own_snippets.delete, lambda *who: own_snippets.move(*who, 1), own_snippets.find):
            with pytest.raises(NotFound):
                act(session, other, made.public_id)

    def test_every_change_is_audited(self, session, rob):
        made = own_snippets.add(session, rob, title="a", text="x")
        own_snippets.change(session, rob, made.public_id, title="b", text="y", kind="fusion")
        own_snippets.move(session, rob, made.public_id, 1)
        own_snippets.delete(session, rob, made.public_id)
        acts = [entry.action for entry in session.query(AuditEntry).filter_by(target=made.public_id)]
        assert acts == ["snippet.add", "snippet.change", "snippet.move", "snippet.delete"]

    @pytest.mark.parametrize(
        ("given", "place"),
        [
            ({"title": " "}, "title"),
            ({"title": "t" * 81}, "title"),
            ({"text": ""}, "text"),
            ({"text": "{{max_upl}}"}, "text"),
            ({"kind": "poetry"}, "kind"),
        ],
    )
    def test_what_cannot_be_kept_is_refused_at_its_place(self, session, rob, given, place):
        with pytest.raises(Invalid) as refused:
            own_snippets.add(session, rob, **({"title": "a", "text": "x"} | given))
        assert list(refused.value.details["problems"]) == [place]
        assert self.titles(session, rob) == []
