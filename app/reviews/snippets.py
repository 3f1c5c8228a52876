"""Texts that a reviewer inserts and then makes their own: shipped ones, those of their own, and single figures.

They come with the figures of the submission at hand; what is not known of it is a gap that can be seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml

from app.domain import informers
from app.domain.report import Report
from app.models import OwnSnippet
from app.reviews import variables

SHIPPED = Path(__file__).with_name("snippets.yaml")
OWN, FITTING, FIGURES = "Your own", "For what was found here", "Figures"
_FIGURE = "figure."


@dataclass(frozen=True)
class Snippet:
    """A shipped text.  `fits` are finding codes, `kinds` kinds of task (none: all), `about` kinds of subject."""

    key: str
    group: str
    title: str
    text: str
    fits: tuple[str, ...]
    kinds: tuple[str, ...]
    about: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """A text as it is inserted here; `gaps` are the variables in it that have no value."""

    key: str
    group: str
    title: str
    text: str

    @property
    def gaps(self) -> list[str]:
        return variables.gaps(self.text)


@cache
def shipped() -> tuple[Snippet, ...]:
    groups = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    return tuple(
        Snippet(
            one["key"], group, one["title"], one["text"], tuple(one.get("fits", ())), tuple(one.get("kinds", ())),
            tuple(content["about"]),
        )
        for group, content in groups.items()
        for one in content["texts"]
    )  # fmt: skip


def offered(
    subject: str, kind: str, report: Report | None, own: Iterable[OwnSnippet], faults: Collection[str] = ()
) -> list[Offer]:
    """Everything for this kind of subject and of task: one's own first, then what speaks of a finding there is.

    `faults` are codes that the record of a task's design has.
    """
    mine = [
        Offer(one.public_id, OWN, one.title, variables.inserted(one.text, report))
        for one in own
        if one.kind in (None, kind)
    ]
    texts = [one for one in shipped() if subject in one.about and (not one.kinds or kind in one.kinds)]
    codes = {*faults, *(finding.code for finding in (report.findings if report else ()))}
    fitting = [one for one in texts if any(_speaks_of(one, code) for code in codes)]
    rest = [one for one in texts if one not in fitting]
    return [
        *mine,
        *(_offer(one, FITTING, report) for one in fitting),
        *(_offer(one, one.group, report) for one in rest),
        *_figures(report),
    ]


def grouped(offers: Sequence[Offer]) -> dict[str, list[Offer]]:
    groups: dict[str, list[Offer]] = {}
    for offer in offers:
        groups.setdefault(offer.group, []).append(offer)
    return groups


def added(typed: str, text: str) -> str:
    """Behind what was typed, in a paragraph of its own."""
    return f"{typed.rstrip()}\n\n{text}" if typed.strip() else text


def _offer(snippet: Snippet, group: str, report: Report | None) -> Offer:
    """Its finding, line and advice are of what it speaks of, and never of another finding."""
    if report is not None and snippet.fits:
        report = replace(report, findings=tuple(f for f in report.findings if _speaks_of(snippet, f.code)))
    return Offer(snippet.key, group, snippet.title, variables.inserted(snippet.text, report))


def _speaks_of(snippet: Snippet, code: str) -> bool:
    return any(informers.covers(rule, code) for rule in snippet.fits)


def _figures(report: Report | None) -> list[Offer]:
    return [
        Offer(_FIGURE + one.name, FIGURES, one.means, variables.inserted(f"{{{{{one.name}}}}}", report))
        for one in variables.VARIABLES
    ]
