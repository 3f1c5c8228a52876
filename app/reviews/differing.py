"""Two texts of one draft, typed in two pages: what differs as a person reads it, and one field taken from the other.

Scores differ by criterion, notes by letter.  Comments and links have no names: equal ones are the same, others are
paired by place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from app.domain.review import Decision
from app.kit import strict_json
from app.reviews.comments import placed
from app.reviews.links import numbered
from app.reviews.scoring import DraftComment, DraftContent, DraftLink, DraftRanking, DraftScore
from app.submissions.differences import lines_of, matches

NONE = "none"
_SINGLE = {
    "feedback": "Overall feedback", "decision": "Decision", "confidence": "Confidence", "what_changed": "What changed",
}  # fmt: skip
_ACKNOWLEDGED = "acknowledged"
_RANKING, _NOTES = "ranking", "notes"
_LISTS: Mapping[str, type[BaseModel]] = {"comments": DraftComment, "links": DraftLink}
One = TypeVar("One", bound=BaseModel)


@dataclass(frozen=True)
class Line:
    text: str
    is_only_here: bool


@dataclass(frozen=True)
class Part:
    """One thing that differs within a field; `label` is empty where the field has only one."""

    label: str
    mine: str
    theirs: str

    @property
    def my_lines(self) -> list[Line]:
        return _marked(self.mine, self.theirs)

    @property
    def their_lines(self) -> list[Line]:
        return _marked(self.theirs, self.mine)


@dataclass(frozen=True)
class Difference:
    """A field in which the texts differ.  `key` stands in the address; `mine` or `theirs` may lack it altogether."""

    key: str
    title: str
    parts: tuple[Part, ...]
    in_mine: bool = True
    in_theirs: bool = True


def differences(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], titles: Mapping[str, str], rulings: Mapping[str, str]
) -> list[Difference]:
    """In the order of the page.  `titles` are of criteria by key, `rulings` what to call a ruling by its id."""
    ours, other = DraftContent.model_validate(dict(mine)), DraftContent.model_validate(dict(theirs))
    found = [
        Difference(f"score.{key}", titles.get(key, key), parts, key in ours.scores, key in other.scores)
        for key in [*titles, *sorted((ours.scores.keys() | other.scores.keys()) - titles.keys())]
        if (parts := _scores(ours.scores.get(key, DraftScore()), other.scores.get(key, DraftScore())))
    ]
    found += _rankings(ours, other)
    found += [_comment(*pair, titles) for pair in _pairs(ours.comments, other.comments, _place)]
    found += [_link(*pair) for pair in _pairs(ours.links, other.links, _left)]
    for name, title in _SINGLE.items():
        left, right = (_said(getattr(one, name)) for one in (ours, other))
        found += [Difference(name, title, (Part("", left, right),))] if left != right else []
    left, right = ("\n".join(rulings.get(one, one) for one in sorted(text.acknowledged)) for text in (ours, other))
    return found + ([Difference(_ACKNOWLEDGED, "Rulings read", (Part("", left, right),))] if left != right else [])


def are_the_same(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether nothing that a person typed differs."""
    return not differences(mine, theirs, {}, {})


def taken(mine: Mapping[str, Any], theirs: Mapping[str, Any], key: str) -> dict[str, Any]:
    """`mine` with one field as it is in `theirs`; as it was where the key names nothing that is there now."""
    name, _, rest = key.partition(".")
    if name == "score":
        scores = {k: s for k, s in mine.get("scores", {}).items() if k != rest}
        others = theirs.get("scores", {})
        return {**mine, "scores": scores | ({rest: others[rest]} if rest in others else {})}
    if name in (_RANKING, _NOTES):
        return _ranked(mine, theirs, name, rest)
    if name in _LISTS:
        return {**mine, name: _replaced(_LISTS[name], mine.get(name, []), theirs.get(name, []), rest)}
    return {**mine, name: theirs.get(name)} if name in (*_SINGLE, _ACKNOWLEDGED) and name in theirs else dict(mine)


def _scores(mine: DraftScore, theirs: DraftScore) -> tuple[Part, ...]:
    pairs = (
        Part("Answer", _answer(mine), _answer(theirs)),
        Part("Rationale", mine.rationale, theirs.rationale),
        Part("Evidence", " ".join(mine.evidence), " ".join(theirs.evidence)),
        Part("The finding is false because", mine.false_because, theirs.false_because),
    )
    return tuple(part for part in pairs if part.mine != part.theirs)


def _rankings(mine: DraftContent, theirs: DraftContent) -> list[Difference]:
    left, right = mine.ranking, theirs.ranking
    parts = (Part("Places", _ranks(left), _ranks(right)), Part("How much better", _steps(left), _steps(right)))
    differ = tuple(part for part in parts if part.mine != part.theirs)
    found = [Difference(f"{_RANKING}.order", "Order", differ)] if differ else []
    if left.reason != right.reason:
        found.append(Difference(f"{_RANKING}.reason", "Reason", (Part("", left.reason, right.reason),)))
    for letter in sorted(mine.notes.keys() | theirs.notes.keys()):
        part = Part("", mine.notes.get(letter, ""), theirs.notes.get(letter, ""))
        if part.mine != part.theirs:
            found.append(Difference(f"{_NOTES}.{letter}", f"To the author of {letter}", (part,)))
    return found


def _ranks(ranking: DraftRanking) -> str:
    return ", ".join(f"{letter} {rank}" for letter, rank in sorted(ranking.ranks.items()) if rank is not None)


def _steps(ranking: DraftRanking) -> str:
    return ", ".join(f"{n} over {n + 1}: {said}" for n, said in enumerate(ranking.strengths, 1) if said)


def _ranked(mine: Mapping[str, Any], theirs: Mapping[str, Any], name: str, part: str) -> dict[str, Any]:
    """`mine` with the order, the reason or one note as the other page has it."""
    names = {"order": ("ranks", "strengths"), "reason": ("reason",)}.get(part, ()) if name == _RANKING else (part,)
    ours, other = mine.get(name, {}), theirs.get(name, {})
    rest = {key: value for key, value in ours.items() if key not in names}
    return {**mine, name: rest | {key: other[key] for key in names if key in other}}


def _answer(score: DraftScore) -> str:
    if score.state != "scored":
        return _words(score.state)
    return "" if score.level is None else f"level {score.level}"


def _pairs(
    mine: Sequence[One], theirs: Sequence[One], place: Callable[[One], str]
) -> list[tuple[One | None, One | None]]:
    """What is only in one of the lists, beside what the other has at the same place."""
    left, right = _left_over(mine, theirs), _left_over(theirs, mine)
    pairs: list[tuple[One | None, One | None]] = []
    for one in left:
        twin = next((other for other in right if place(other) == place(one)), None)
        right = [other for other in right if other is not twin]
        pairs.append((one, twin))
    return [*pairs, *((None, other) for other in right)]


def _comment(mine: DraftComment | None, theirs: DraftComment | None, titles: Mapping[str, str]) -> Difference:
    place = _place(mine or theirs or DraftComment()) or "the whole submission"
    left, right = _spoken(mine, titles), _spoken(theirs, titles)
    parts = tuple(Part(label, left[label], right[label]) for label in left if left[label] != right[label])
    key = f"comments.{_digest(mine)}.{_digest(theirs)}"
    return Difference(key, f"Comment on {place}", parts, mine is not None, theirs is not None)


def _spoken(comment: DraftComment | None, titles: Mapping[str, str]) -> dict[str, str]:
    said = comment or DraftComment()
    kinds = [_words(kind) for kind in (said.severity, said.category) if kind]
    criterion = said.criterion or ""
    return {
        "Comment": said.body,
        "Weight and kind": ", ".join(kinds),
        "Speaks for": titles.get(criterion, criterion),
        "Evidence": " ".join(said.evidence),
    }


def _place(comment: DraftComment) -> str:
    return placed(comment.model_dump(), {}).place


def _link(mine: DraftLink | None, theirs: DraftLink | None) -> Difference:
    left, right = _told(mine), _told(theirs)
    parts = tuple(Part(label, left[label], right[label]) for label in left if left[label] != right[label])
    key = f"links.{_digest(mine)}.{_digest(theirs)}"
    return Difference(
        key, f"Link from {_left(mine or theirs or DraftLink())}", parts, mine is not None, theirs is not None
    )


def _told(link: DraftLink | None) -> dict[str, str]:
    if link is None:
        return {"Became": "", "Note": ""}
    return {"Became": f"{_words(link.how)} {numbered([link.model_dump()])[0].right}".strip(), "Note": link.note}


def _left(link: DraftLink) -> str:
    return numbered([link.model_dump()])[0].left


def _left_over(some: Sequence[One], others: Sequence[One]) -> list[One]:
    rest, found = list(others), []
    for one in some:
        if one in rest:
            rest.remove(one)
        else:
            found.append(one)
    return found


def _replaced(kind: type[BaseModel], mine: Sequence[Any], theirs: Sequence[Any], key: str) -> list[Any]:
    """With the one called by the key's first half as the one called by its second: added where there is no first,
    gone where there is no second.
    """
    old, _, new = key.partition(".")
    coming = [other for other in theirs if _digest(kind.model_validate(other)) == new][:1]
    at = next((n for n, one in enumerate(mine) if _digest(kind.model_validate(one)) == old), None)
    if (new != NONE and not coming) or (old != NONE and at is None):
        return list(mine)
    place = len(mine) if at is None else at
    return [*mine[:place], *coming, *mine[place + 1 :]]


def _digest(one: BaseModel | None) -> str:
    """What a comment or link is called in an address: by what it says, since it may stand anywhere in its list."""
    if one is None:
        return NONE
    return hashlib.sha256(strict_json.dump(one.model_dump()).encode()).hexdigest()[:16]


def _words(value: str) -> str:
    return value.replace("_", " ")


def _said(value: Any) -> str:
    if isinstance(value, int):
        return f"{value} of 3"
    return _words(value) if value in tuple(Decision) else value or ""


def _marked(text: str, other: str) -> list[Line]:
    lines = lines_of(text)
    shared = {m.old + i for m in matches(lines, lines_of(other)) for i in range(m.length)}
    return [Line(line, number not in shared) for number, line in enumerate(lines)]
