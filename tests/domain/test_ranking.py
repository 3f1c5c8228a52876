"""A ranking: places with ties, a strength for each step, and what follows from it for every pair."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.ranking import LETTERS, Pair, Strength, pairs, places_of, problems, ranking, shown_order

SLIGHTLY, CLEARLY, MUCH = Strength


def test_equal_ranks_share_a_place():
    assert places_of({"C": 2, "A": 1, "B": 2, "D": 3}) == (("A",), ("B", "C"), ("D",))


def test_nothing_is_missing_from_a_whole_one():
    assert problems("AB", {"A": 2, "B": 1}, ["much"], "B is right on the tail.") == {}
    assert problems("ABC", {"A": 1, "B": 1, "C": 1}, [], "They are the same.") == {}


@pytest.mark.parametrize(
    ("ranks", "strengths", "place", "says"),
    [
        ({}, [], "ranking", "give A and B and C a place"),
        ({"A": 1, "B": None, "C": 2}, [], "ranking", "give B a place"),
        ({"A": 1, "B": 2, "C": 3, "D": 4}, ["much"] * 3, "ranking", "there is no 'D'"),
        ({"A": 1, "B": 1, "C": 3}, ["much"], "ranking", "place 2 is empty"),
        ({"A": 2, "B": 2, "C": 2}, [], "ranking", "place 1 is empty"),
        ({"A": 0, "B": 1, "C": 2}, ["much"] * 2, "ranking", "count on from 1"),
        ({"A": 1, "B": 2, "C": 3}, ["much"], "strengths", "how much better place 2 is than place 3"),
        ({"A": 1, "B": 2, "C": 3}, ["", "much"], "strengths", "how much better place 1 is than place 2"),
        ({"A": 1, "B": 2, "C": 2}, ["much", "much"], "strengths", "no place 3"),
        ({"A": 1, "B": 2, "C": 2}, ["vastly"], "strengths", "no strength 'vastly'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(ranks, strengths, place, says):
    found = problems("ABC", ranks, strengths, "because")

    assert list(found) == [place] and says in found[place]


def test_a_reason_of_blanks_is_none():
    assert "reason" in problems("AB", {"A": 1, "B": 1}, [], " \n ")


def test_pairs_say_what_was_stated_and_what_follows():
    of = ranking({"A": 2, "B": 1, "C": 3, "D": 3}, ["slightly", "much"], "r")

    assert list(pairs(of)) == [
        Pair("B", "A", SLIGHTLY, is_stated=True),
        Pair("B", "C", MUCH, is_stated=False),
        Pair("B", "D", MUCH, is_stated=False),
        Pair("A", "C", MUCH, is_stated=True),
        Pair("A", "D", MUCH, is_stated=True),
        Pair("C", "D", None, is_stated=True),
    ]


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.lists(st.sampled_from(Strength), min_size=3, max_size=3))
def test_pairs_agree_with_the_ranks_that_they_come_from(numbers, strengths):
    dense = [sorted(set(numbers)).index(n) + 1 for n in numbers]
    ranks = dict(zip(LETTERS, dense, strict=False))
    found = list(pairs(ranking(ranks, strengths[: len(set(dense)) - 1], "r")))

    assert {frozenset((p.better, p.worse)) for p in found} == {frozenset(two) for two in combinations(ranks, 2)}
    assert all(ranks[p.better] == ranks[p.worse] if p.is_tie else ranks[p.better] < ranks[p.worse] for p in found)


def test_the_shown_order_is_of_person_and_item_and_of_nothing_else():
    members = ["sub_a", "sub_b", "sub_c", "sub_d"]
    order = shown_order("usr_1", "sbj_1", members)

    assert order == shown_order("usr_1", "sbj_1", members[::-1]) and sorted(order) == members
    firsts = [shown_order(f"usr_{n}", "sbj_1", members)[0] for n in range(400)]
    assert all(60 < firsts.count(member) < 140 for member in members)
    assert len({tuple(shown_order("usr_1", f"sbj_{n}", members)) for n in range(200)}) == 24
