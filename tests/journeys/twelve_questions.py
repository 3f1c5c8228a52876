"""The twelve questions of a reviewer, each with the keys that answer it and where the answer then stands."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.reviews import service as reviews
from tests import factories
from tests.conftest import make_settings, migrate
from tests.journeys.sample_house import claimed_review, open_house
from tests.pages import sample_reports
from tests.pages.conftest import PASSWORD

KEYS_MAX, SECONDS_MAX = 2, 1.0
# The text of the element, if it is in the window.
IN_SIGHT = """(place) => { const one = document.querySelector(place), box = one?.getBoundingClientRect();
  return one && box.height && box.top >= 0 && box.bottom <= innerHeight ? one.innerText : null; }"""


@dataclass(frozen=True)
class Question:
    """`place` is a CSS selector; the answer is there when its text has `says`."""

    asks: str
    keys: str
    place: str
    says: str


def _told(number: int) -> str:
    return f"#questions dd:nth-of-type({number})"


QUESTIONS = (
    Question("worst element?", "q", _told(1), "ULP"),
    Question("at which line?", "q", _told(2), "solution.py:"),
    Question("what was not checked?", "", ".not-checked", "speed"),
    Question("which baseline?", "t", "#panel-benchmark", "No CUDA device"),
    Question("which precision?", "q", _told(5), "float32"),
    Question("same on a new seed?", "q", _told(6), "passed"),
    Question("what does the reference get wrong?", "", ".health", "ULP"),
    Question("registers on sm_90a?", "u", "#panel-compile table", "registers"),
    Question("does the tail work at 127?", "q", _told(9), "127"),
    Question("what changed since the last revision?", "d", "main", "solution.py"),
    Question("who else reviewed?", "q", _told(11), "hidden until yours is"),
    Question("what do I tell the author?", "q", _told(12), "."),
)


@dataclass(frozen=True)
class Answered:
    question: Question
    text: str
    seconds: float

    @property
    def holds(self) -> bool:
        return len(self.question.keys) <= KEYS_MAX and self.seconds <= SECONDS_MAX


def ask(page: Any, address: str, question: Question) -> Answered:
    """Open the review anew, press the keys, and wait until the answer is in sight; raises where it never is."""
    page.goto(address)
    page.wait_for_function("window.workbench && document.readyState === 'complete'")
    start = time.perf_counter()
    for key in question.keys:
        page.keyboard.press(key)
    seen = page.wait_for_function(
        f"([place, says]) => {{ const text = ({IN_SIGHT})(place); return text?.includes(says) && text; }}",
        arg=[question.place, question.says],
        timeout=10_000,
    )
    return Answered(question, " ".join(seen.json_value().split()), time.perf_counter() - start)


@contextmanager
def asked_house(folder: Path) -> Iterator[tuple[str, str]]:
    """Where a house answers, and the draft of a second revision in it, which somebody else has reviewed already."""
    settings = make_settings(folder)
    migrate(settings)
    with open_house(settings) as house:
        with house.database.write() as session:
            wrong = sample_reports.wrong_result()
            more = [
                sample_reports.workload("square", family=family, outputs=(sample_reports.output(),))
                for family in ("repeat", "new values, same memory")
            ]
            drawn = sample_reports.workload("square, cols=127", family="square, cols=127")
            submission, _, _ = factories.make_evaluated(
                session, settings, author=house.people["sue"], parent=house.submissions["accepted"],
                source=f"{sample_reports.SOURCE}# the second try\n",
                report=dataclasses.replace(wrong, workloads=(*wrong.workloads, *more, drawn)),
            )  # fmt: skip
            other = claimed_review(session, house, house.people["ria"], submission.public_id)
            reviews.submit_review(session, settings, house.people["ria"], other, _unsure())
            draft = claimed_review(session, house, house.people["rob"], submission.public_id)
            address = f"/reviews/{draft.public_id}"
        yield house.url, address


def _unsure() -> dict[str, Any]:
    """A review that judges nothing, and so lacks nothing whatever was found."""
    said = {"level": None, "state": "cannot_judge", "rationale": "I know nothing of softmax.", "evidence": []}
    return factories.full_content(scores=dict.fromkeys(factories.full_content()["scores"], said))


def open_draft(browser: Any, url: str, address: str) -> Any:
    """A page of the reviewer's on it."""
    page = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900}, bypass_csp=True).new_page()
    page.goto("/sign-in")
    page.fill("#login", "rob")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{url}/")
    page.goto(address)
    return page
