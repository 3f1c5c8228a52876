"""Two texts of one draft, typed in two pages: what differs as a person reads it, and one field taken from the other.

Scores differ by criterion.  Comments have no names: equal ones are the same one, those left over are paired by place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.review import Decision
from app.kit import strict_json
from app.reviews.comments import placed
from app.reviews.scoring import DraftComment, DraftContent, DraftScore
from app.submissions.differences import lines_of, matches

NONE = "none"
_SINGLE = {"feedback": "Overall feedback", "decision": "Decision", "confidence": "Confidence"}
_ACKNOWLEDGED = "acknowledged"


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
    found += _comments(ours.comments, other.comments, titles)
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
    if name == "comments":
        return {**mine, name: _replaced(mine.get(name, []), theirs.get(name, []), *rest.partition(".")[::2])}
    return {**mine, name: theirs.get(name)} if name in (*_SINGLE, _ACKNOWLEDGED) and name in theirs else dict(mine)


def _scores(mine: DraftScore, theirs: DraftScore) -> tuple[Part, ...]:
    pairs = (
        Part("Answer", _answer(mine), _answer(theirs)),
        Part("Rationale", mine.rationale, theirs.rationale),
        Part("Evidence", " ".join(mine.evidence), " ".join(theirs.evidence)),
        Part("The finding is false because", mine.false_because, theirs.false_because),
    )
    return tuple(part for part in pairs if part.mine != part.theirs)


def _answer(score: DraftScore) -> str:
    if score.state != "scored":
        return _words(score.state)
    return "" if score.level is None else f"level {score.level}"


def _comments(
    mine: Sequence[DraftComment], theirs: Sequence[DraftComment], titles: Mapping[str, str]
) -> list[Difference]:
    left, right = _left_over(mine, theirs), _left_over(theirs, mine)
    pairs: list[tuple[DraftComment | None, DraftComment | None]] = []
    for one in left:
        twin = next((other for other in right if _place(other) == _place(one)), None)
        right = [other for other in right if other is not twin]
        pairs.append((one, twin))
    pairs += [(None, other) for other in right]
    return [_comment(one, other, titles) for one, other in pairs]


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


def _left_over(some: Sequence[DraftComment], others: Sequence[DraftComment]) -> list[DraftComment]:
    rest, found = list(others), []
    for one in some:
        if one in rest:
            rest.remove(one)
        else:
            found.append(one)
    return found


def _replaced(mine: Sequence[Any], theirs: Sequence[Any], old: str, new: str) -> list[Any]:
    """With the comment called `old` as the one called `new`: added where there is no old, gone where no new."""
    coming = [other for other in theirs if _digest(DraftComment.model_validate(other)) == new][:1]
    at = next((n for n, one in enumerate(mine) if _digest(DraftComment.model_validate(one)) == old), None)
    if (new != NONE and not coming) or (old != NONE and at is None):
        return list(mine)
    place = len(mine) if at is None else at
    return [*mine[:place], *coming, *mine[place + 1 :]]


def _digest(comment: DraftComment | None) -> str:
    """What a comment is called in an address: by what it says, since it may stand anywhere in its list."""
    if comment is None:
        return NONE
    return hashlib.sha256(strict_json.dump(comment.model_dump()).encode()).hexdigest()[:16]


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
