"""The keys of the review page and of the page of links: what each does, and which a person has put in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import Invalid

REVIEW, LINKS = "review", "links"


@dataclass(frozen=True)
class Action:
    """Something that one key does on one page.  `name` is how the page's script knows it."""

    name: str
    usual: str
    title: str
    page: str = REVIEW


@dataclass(frozen=True)
class Bound:
    """An action with the key that a person has for it."""

    action: Action
    key: str


ACTIONS = (
    Action("next", "j", "next criterion"),
    Action("previous", "k", "previous criterion"),
    Action("confirm", "0", "confirm a proposed “cannot judge”"),
    Action("write", "c", "write: on a source line a comment, in the rubric the rationale"),
    Action("comment", "l", "comment on the source line under the focus, the pointer, or last followed"),
    Action("cite", "e", "cite the evidence under the focus or the pointer"),
    Action("texts", "w", "insert a text (words) where you write"),
    Action("questions", "q", "twelve questions, answered"),
    Action("numerics", "n", "numerics"),
    Action("builds", "u", "builds"),
    Action("integrity", "i", "integrity"),
    Action("sanitizers", "a", "sanitizers"),
    Action("benchmark", "t", "benchmark (times)"),
    Action("profile", "p", "profile"),
    Action("environment", "v", "environment and log"),
    Action("panel-before", "[", "previous evidence panel"),
    Action("panel-after", "]", "next evidence panel"),
    Action("source", "s", "source"),
    Action("beside", "d", "source beside another text"),
    Action("bench", "b", "bench"),
    Action("feedback", "f", "overall feedback"),
    Action("sheet", "?", "this sheet"),
    Action("link", "l", "on the page of links: link what is picked on both sides", LINKS),
)
# Levels and choices keep their digits, which stand beside them; the rest move boxes, pages or the focus.
FIXED = (
    ("1 … 4", "level 0 to 3, or that choice of decision and confidence"),
    ("↑ ↓", "previous, next piece of evidence"),
    ("Esc", "leave a box, back to its criterion"),
    ("Ctrl /", "while you write: insert a text"),
    ("Ctrl ↵", "submit and open the next item"),
)
_TAKEN = frozenset("1234567")


def bound(own: Mapping[str, str], page: str = "") -> list[Bound]:
    """Every action (of the page) with this person's key, the usual one where they have none of their own."""
    actions = [action for action in ACTIONS if page in ("", action.page)]
    return [Bound(action, own.get(action.name, action.usual)) for action in actions]


def by_action(own: Mapping[str, str], page: str) -> dict[str, str]:
    """The same, for a script: the action's name and its key."""
    return {one.action.name: one.key for one in bound(own, page)}


def chosen(typed: Mapping[str, str]) -> dict[str, str]:
    """What differs from the usual keys; raises `Invalid` for keys that cannot be, with a word for each."""
    wanted = {action.name: typed.get(action.name, "").strip() or action.usual for action in ACTIONS}
    problems = {name: fault for name, key in wanted.items() if (fault := _fault(key))}
    owners: dict[tuple[str, str], str] = {}
    for action in ACTIONS:
        other = owners.setdefault((action.page, wanted[action.name]), action.title)
        if other != action.title:
            problems.setdefault(action.name, f"{wanted[action.name]} is the key for “{other}” already")
    if problems:
        raise Invalid("some keys cannot be used", what_to_do="Correct those that are marked.", problems=problems)
    return {action.name: wanted[action.name] for action in ACTIONS if wanted[action.name] != action.usual}


def _fault(key: str) -> str:
    if len(key) != 1 or not key.isprintable():
        return "type one character, as your keyboard gives it"
    if key in _TAKEN:
        return "1 to 7 choose levels"
    return ""
