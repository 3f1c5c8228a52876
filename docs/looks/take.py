"""Takes the pictures in this folder: `python -m docs.looks.take`, with a Chromium on the path.

The house is seeded from the page tests' sample reports, so pictures and tests show the same states.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from app.accounts import service as accounts
from app.accounts.policy import viewer_of
from app.config import Settings
from app.evaluations import queries as evaluation_queries
from app.evaluations import service as evaluations
from app.kit.db import Database
from app.main import create_app
from app.rubrics import service as rubrics
from tests import factories
from tests.conftest import make_settings, migrate
from tests.fakes import FakeSender
from tests.journeys.conftest import CHROMIUM_FLAGS
from tests.pages import sample_reports
from tests.pages.conftest import PASSWORD, PEOPLE

HERE = Path(__file__).parent
with socket.create_server(("127.0.0.1", 0)) as probe:
    PORT = probe.getsockname()[1]
HOME = f"http://127.0.0.1:{PORT}"
TITLES = {
    "accepted": "one program a row",
    "wrong_result": "blocks of 32, floor grid",
    "suspect": "memoised by address",
    "measured": "two rows a program",
}
MODES = {"light": ("light", 1440), "dark": ("dark", 1440), "phone": ("light", 400)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = make_settings(Path(folder))
        migrate(settings)
        server, live = _serve(settings)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS))
            for mode in MODES:
                _take_all(browser, mode, live)
            browser.close()
        server.should_exit = True
    shutil.copy(HERE / "review-light.png", HERE / "review.png")


def _serve(settings: Settings) -> tuple[uvicorn.Server, str]:
    app = create_app(settings)
    app.state.database.close()
    app.state.database = Database(settings, FakeSender())
    live = _seed(app.state.database, settings)
    server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.1)
    return server, live


def _seed(database: Database, settings: Settings) -> str:
    """People, a task, a submission for each title, and one that is being evaluated: its address."""
    with database.write() as session:
        rubrics.seed(session)
        people = {
            login: viewer_of(
                accounts.create_user(session, login=login, name=login.title(), roles=roles, password=PASSWORD)
            )
            for login, roles in PEOPLE.items()
        }
        task = factories.make_task(session, settings)
        common = {"author": people["sue"], "task": task}
        for name, title in TITLES.items():
            made = sample_reports.ALL[name]()
            source = f"{sample_reports.SOURCE}# {title}\n"
            factories.make_evaluated(session, settings, report=made, source=source, title=title, **common)
        live = factories.make_submission(session, settings, source=sample_reports.SOURCE, title="autotuned", **common)
        queued = evaluation_queries.latest_of(session, live.id)
        attempt = evaluations.claim(session, settings, queued.public_id, "worker-1")
        ended = [{"name": name, "status": "passed", "seconds": 0.8} for name in ("inspect", "compile")]
        evaluations.heartbeat(session, settings, attempt, ended)
        return f"/submissions/{live.public_id}"


def _take_all(browser: Browser, mode: str, live: str) -> None:
    reviewer = _signed_in(browser, mode, "rob")
    _take(reviewer, mode, "queue", "/queue")
    item = reviewer.locator(".queue-item", has_text="floor grid")
    item.locator("button:has-text('Claim'), button:has-text('Go on')").first.click()
    reviewer.wait_for_load_state()
    reviewer.keyboard.press("4")
    _take(reviewer, mode, "review")
    for key in ("j", "3", "j", "1", "]", "e"):
        reviewer.keyboard.press(key)
    _take(reviewer, mode, "evidence")
    author = _signed_in(browser, mode, "sue")
    _take(author, mode, "submission", live)
    _take(author, mode, "upload", "/submissions/new?task=row-softmax")
    admin = _signed_in(browser, mode, "max")
    _open_draft(admin)
    _take(admin, mode, "rubric-editor")
    _take(admin, mode, "admin", "/admin")


def _open_draft(page: Page) -> None:
    page.goto("/rubrics")
    drafts = page.locator("tr", has_text="draft").locator("a")
    if drafts.count():
        drafts.first.click()
    else:
        page.click("text=Generation")
        page.click("text=Draft the next version")


def _signed_in(browser: Browser, mode: str, login: str) -> Page:
    scheme, width = MODES[mode]
    page = browser.new_page(base_url=HOME, color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto("/sign-in")
    page.fill("#login", login)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{HOME}/")
    return page


def _take(page: Page, mode: str, name: str, address: str | None = None) -> None:
    if address:
        page.goto(address)
    page.wait_for_timeout(1200)
    page.screenshot(path=HERE / f"{name}-{mode}.png")


if __name__ == "__main__":
    main()
