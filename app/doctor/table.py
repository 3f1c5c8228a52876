"""The whole table: every check in its order, printed as text or JSON."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Collection, Iterable, Iterator

from app.config import Settings
from app.doctor import host
from app.doctor.result import Result
from app.doctor.runtimes import runtimes, without_runner
from app.doctor.services import services

_WIDTH = 110
_INDENT = " " * 4


def examine(
    settings: Settings, sandbox_findings: Iterable[tuple[str, bool, str, str]], with_runner: Collection[str]
) -> Iterator[Result]:
    """Yields each result as it is found: some take seconds.

    `with_runner` names the frameworks that the judge can run; it comes from outside, as the sandbox's findings do.
    """
    yield from host.machine(settings)
    yield from host.isolation(sandbox_findings)
    yield from services(settings)
    yield from runtimes(settings)
    yield from without_runner(with_runner)
    yield from host.devices()


def is_usable(results: Iterable[Result]) -> bool:
    """Whether everything that an evaluation cannot do without works."""
    return all(result.works for result in results if result.required)


def as_text(result: Result) -> str:
    """`works    name   detail`, and for what is missing how to get it on the next line."""
    state = "works" if result.works else "MISSING" if result.required else "missing"
    line = f"  {state:<8} {result.name:<20} {result.detail}"
    if result.works or not result.how:
        return textwrap.shorten(line, _WIDTH * 2) if len(line) > _WIDTH * 2 else line
    return f"{line}\n" + textwrap.fill(result.how, _WIDTH, initial_indent=_INDENT * 3, subsequent_indent=_INDENT * 3)


def as_json(results: Iterable[Result]) -> str:
    results = list(results)
    lines = [dataclasses.asdict(result) for result in results]
    return json.dumps({"usable": is_usable(results), "checks": lines}, indent=2)
