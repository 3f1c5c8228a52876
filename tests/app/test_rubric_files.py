"""Rubrics as files: read back as written, linted with line numbers, compared by what a change reaches."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.rubric import LEVELS
from app.errors import Invalid
from app.rubrics import changes, content, lint, service
from app.rubrics.changes import ChangeClass

GENERATION = (service.DATA / "generation.yaml").read_text()
MINOR = "One minor clause is missed."

few = settings(max_examples=25)  # a whole rubric is a large example
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_words = _text.map(lambda text: f"a{text}")
_some = st.lists(_text, max_size=2)
_criterion = st.fixed_dictionaries(
    {"title": _words, "guidance": _text, "grader_notes": _text,
     "levels": st.fixed_dictionaries(dict.fromkeys(LEVELS, _text)),
     "examples": st.dictionaries(st.sampled_from(LEVELS), _text, max_size=2), "gate": st.booleans(),
     "rationale_at_or_below": st.integers(-1, 3), "evidence_levels": st.lists(st.sampled_from(LEVELS), max_size=3),
     "informed_by": _some, "caps": st.dictionaries(_text, st.integers(0, 2), max_size=2),
     "kinds": _some, "frameworks": _some}
)  # fmt: skip
_whole = st.fixed_dictionaries(
    {"key": st.sampled_from(["mine", "a-b-1"]), "title": _words,
     "subject": st.sampled_from(["submission", "task_version"]),
     "kinds": _some, "criteria": st.lists(_criterion, min_size=1, max_size=3)}
)  # fmt: skip


@st.composite
def rubrics(draw):
    whole, share = draw(_whole), draw(st.integers(0, 33))
    keys = [f"k{n}" for n in range(len(whole["criteria"]))]
    for key, criterion in zip(keys, whole["criteria"], strict=True):
        criterion.update(key=key, weight=share, still_asked=keys[:1])
    whole["criteria"][0]["weight"] = 100 - share * (len(keys) - 1)
    return content.read(whole)


class TestRoundTrip:
    @few
    @given(rubrics())
    def test_yaml_reads_back_as_written(self, rubric):
        again = content.read_yaml(content.write_yaml(rubric))
        assert again == rubric and content.sha256_of(again) == content.sha256_of(rubric)

    @few
    @given(rubrics())
    def test_json_reads_back_as_written(self, rubric):
        text = content.write_json(rubric)
        assert content.read(json.loads(text)) == rubric and content.read_yaml(text) == rubric

    @few
    @given(rubrics())
    def test_what_the_database_keeps_is_the_same(self, rubric):
        assert content.read(json.loads(json.dumps(rubric.model_dump(mode="json")))) == rubric


class TestLint:
    @pytest.mark.parametrize(
        ("before", "after", "said"),
        [
            ("numerics.wrong_*: 0", "numerics.wrongly: 0", "fault: correct.caps.numerics.wrongly: 'numerics.wrongly'"),
            ("numerics.wrong_*: 0", "numerics.wrong_*: 3", ":60: fault: correct.caps.numerics.wrong_*: a cap is a"),
            ("informed_by: [workloads.status]", "informed_by: [diff]", "fault: spec.informed_by.0: 'diff' is no"),
            (MINOR, "Fairly good.", "doubt: spec.levels.2: 'Fairly good.' names nothing"),
            (MINOR, "''", "fault: spec.levels.2: is empty"),
            (MINOR, "One major clause is missed.", "fault: spec.levels.1: reads as level 2 does"),
            ("kinds: [generation]", "kinds: [generating]", ":4: fault: kinds: 'generating' is none of generation"),
            ("weight: 30", "weight: 31", ":1: fault: rubric: weights sum to 101, not 100"),
            ("guidance: Go through the clauses", "guidanse: Go through the clauses", "did you mean 'guidance'?"),
            ("still_asked: [explained]", "still_asked: [explaned]", "still_asked names no criterion"),
        ],
    )  # fmt: skip
    def test_names_line_place_and_fault(self, before, after, said):
        assert before in GENERATION
        text = GENERATION.replace(before, after)
        located = [remark.located("mine.yaml", text) for remark in lint.lint_text(text)]
        assert any(said in line and line.startswith("mine.yaml:") for line in located), located

    def test_a_key_given_twice_is_no_rubric(self):
        with pytest.raises(Invalid, match="line 3: the key 'title' is there twice"):
            lint.lint_text("key: a\ntitle: b\ntitle: c\n")


def _changed(change):
    before, data = content.read_yaml(GENERATION), content.read_yaml(GENERATION).model_dump()
    change(data, {c["key"]: c for c in data["criteria"]})
    found = changes.changes(before, content.read(data))
    return changes.reach_of(found), [c.sentence() for c in found]


def _give_weight_to_a_new_one(data, by_key):
    by_key["code"]["weight"] = 0
    data["criteria"].append({**by_key["code"], "key": "style", "title": "Style", "weight": 5})


class TestChanges:
    @pytest.mark.parametrize(
        ("change", "reach", "said"),
        [
            (lambda d, c: None, ChangeClass.NONE, None),
            (lambda d, c: c["code"]["levels"].update({2: "Some debts that can be named."}), ChangeClass.WORDING,
             "code.levels.2: One or two small debts"),
            (lambda d, c: d.update(title="Making"), ChangeClass.WORDING, "title: Generation → Making"),
            (lambda d, c: d["criteria"].reverse(), ChangeClass.WORDING, "order:"),
            (lambda d, c: c["code"]["informed_by"].append("inspect"), ChangeClass.ADDITIVE, "code.informed_by"),
            (lambda d, c: d["kinds"].append("fusion"), ChangeClass.ADDITIVE, "kinds: generation → generation, fusion"),
            (lambda d, c: d["criteria"].append({**c["code"], "key": "style", "title": "Style", "weight": 0}),
             ChangeClass.ADDITIVE, "style is new: Style"),
            (_give_weight_to_a_new_one, ChangeClass.SCORING, "style is new: Style"),
            (lambda d, c: (c["code"].update(weight=10), c["spec"].update(weight=5)), ChangeClass.SCORING,
             "code.weight: 5 → 10"),
            (lambda d, c: c["code"].update(gate=True), ChangeClass.SCORING, "code.gate: no → yes"),
            (lambda d, c: c["correct"]["caps"].update({"numerics.nan_mismatch": 0}), ChangeClass.SCORING,
             "correct.caps.numerics.nan_mismatch: 1 → 0"),
            (lambda d, c: (d["criteria"].remove(c["code"]), c["spec"].update(weight=15)), ChangeClass.STRUCTURAL,
             "code is gone: Code"),
            (lambda d, c: c["build"]["levels"].pop(2), ChangeClass.STRUCTURAL, "build.levels.2 is gone"),
            (lambda d, c: d.update(kinds=["fusion"]), ChangeClass.STRUCTURAL, "kinds"),
            (lambda d, c: c["code"].update(frameworks=["triton"]), ChangeClass.STRUCTURAL, "code.frameworks"),
        ],
    )  # fmt: skip
    def test_each_reaches_as_far_as_it_does(self, change, reach, said):
        found, sentences = _changed(change)
        assert found is reach
        assert said is None or any(said in sentence for sentence in sentences), sentences

    @few
    @given(rubrics(), rubrics())
    def test_only_equal_rubrics_do_not_differ(self, one, other):
        assert (changes.changes(one, other) == []) == (one == other)
        assert changes.changes(one, one) == []
