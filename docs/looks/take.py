"""Takes the pictures in this folder: `python -m docs.looks.take`, with a Chromium on the path.

The house is seeded from the page tests' sample reports, so pictures and tests show the same states.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.assignments import designs
from app.comparisons import service as comparisons
from app.evaluations.task_health import health_of
from app.tasks import queries as task_queries
from tests.conftest import make_settings, migrate
from tests.journeys.conftest import CHROMIUM_FLAGS
from tests.journeys.sample_house import SampleHouse, open_house
from tests.pages.conftest import PASSWORD

HERE = Path(__file__).parent
MODES = {"light": ("light", 1440), "dark": ("dark", 1440), "phone": ("light", 400)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = make_settings(Path(folder))
        migrate(settings)
        with open_house(settings) as house, sync_playwright() as playwright:
            _ask_for_more(house)
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS))
            for mode in MODES:
                _take_all(browser, mode, house)
            browser.close()
    shutil.copy(HERE / "review-light.png", HERE / "review.png")


def _take_all(browser: Browser, mode: str, house: SampleHouse) -> None:
    reviewer = _signed_in(browser, mode, house.url, "rob")
    _take(reviewer, mode, "queue", "/queue")
    item = reviewer.locator(".queue-item", has_text="floor grid")
    item.locator("button:has-text('Claim'), button:has-text('Go on')").first.click()
    reviewer.wait_for_load_state()
    reviewer.keyboard.press("4")
    _take(reviewer, mode, "review")
    for key in ("j", "3", "j", "1", "]", "e"):
        reviewer.keyboard.press(key)
    _take(reviewer, mode, "evidence")
    _take(reviewer, mode, "design", _begun(reviewer, "task_version"))
    _take(reviewer, mode, "comparison", _begun(reviewer, "comparison"))
    author = _signed_in(browser, mode, house.url, "sue")
    _take(author, mode, "submission", f"/submissions/{house.live}")
    _take(author, mode, "upload", "/submissions/new?task=row-softmax")
    admin = _signed_in(browser, mode, house.url, "max")
    _open_draft(admin)
    _take(admin, mode, "rubric-editor")
    _take(admin, mode, "admin", "/admin")


def _ask_for_more(house: SampleHouse) -> None:
    """A task's design and a comparison, beside the submissions in the queue."""
    admin = house.people["max"]
    with house.database.write() as session:
        task = task_queries.find_version(session, "row-softmax")
        health = health_of(session, task.id)
        designs.ask_for_review(session, house.settings, admin, task, health, reason="nobody has looked at it yet")
        members = [house.submissions[name] for name in ("accepted", "measured", "wrong_result")]
        comparisons.open_comparison(session, house.settings, admin, task, members)


def _begun(page: Page, kind: str) -> str:
    """The address of the reviewer's draft of the one item of this kind."""
    page.goto(f"/queue?subject={kind}")
    page.locator(".queue-item", has_text="task design" if kind == "task_version" else kind).locator(
        "button:has-text('Claim'), button:has-text('Go on')"
    ).first.click()
    page.wait_for_url(re.compile("/reviews/rev_"))
    return page.url


def _open_draft(page: Page) -> None:
    page.goto("/rubrics")
    drafts = page.locator("tr", has_text="draft").locator("a")
    if drafts.count():
        drafts.first.click()
    else:
        page.click("text=Generation")
        page.click("text=Draft the next version")


def _signed_in(browser: Browser, mode: str, home: str, login: str) -> Page:
    scheme, width = MODES[mode]
    page = browser.new_page(base_url=home, color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto("/sign-in")
    page.fill("#login", login)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{home}/")
    return page


def _take(page: Page, mode: str, name: str, address: str | None = None) -> None:
    if address:
        page.goto(address)
    page.wait_for_timeout(1200)
    page.screenshot(path=HERE / f"{name}-{mode}.png")


if __name__ == "__main__":
    main()
