"""A real browser and a real house: `workbench serve` with its broker, worker, web and scheduler."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.accounts import service as accounts
from app.config import REPOSITORY, Settings
from app.domain.review import Role
from app.kit.db import Database
from tests import factories
from tests.conftest import make_settings, migrate
from tests.fakes import FakeSender
from tests.pages.sample_reports import SOURCE

PASSWORD = "correct horse battery"
PEOPLE = {"sue": Role.SUBMITTER, "rob": Role.REVIEWER, "ada": Role.ADJUDICATOR}
START_SECONDS = 90
CHROMIUM_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@dataclass
class ServedHouse:
    url: str
    settings: Settings


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHouse]:
    """`workbench serve` on a free port, with people and a task, and the journeys' engine."""
    settings = make_settings(tmp_path_factory.mktemp("house"))
    migrate(settings)
    _seed(settings)
    port = _free_port()
    log = settings.data_dir / "serve.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
        if shutil.which("workbench", path=str(Path(sys.executable).parent)):
            command = [str(Path(sys.executable).with_name("workbench")), "serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=REPOSITORY, env=_environment(settings), stdout=out, stderr=out)
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}", log)
        yield ServedHouse(f"http://127.0.0.1:{port}", settings)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="module")
def chromium():
    path = os.environ.get("WORKBENCH_TEST_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium here: install one, or name it in WORKBENCH_TEST_BROWSER")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def signed_in(served: ServedHouse, chromium):
    """A function: a page with this person signed in; what the page complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_page(login: str, **options: object):
        context = chromium.new_context(base_url=served.url, viewport={"width": 1440, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None
        )
        page.goto("/sign-in")
        page.fill("#login", login)
        page.fill("#password", PASSWORD)
        page.press("#password", "Enter")
        page.wait_for_url(f"{served.url}/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def review(signed_in):
    """The review page of the one item there is; a later test of the same house goes on with it."""
    author = signed_in("sue")
    author.goto("/submissions/new")
    author.select_option("#task", "row-softmax")
    author.fill("#source", SOURCE)
    author.click("main form button.primary")
    author.wait_for_selector("#live [data-live=no]", state="attached", timeout=60_000)
    page = signed_in("rob")
    page.goto("/queue")
    page.locator("button:has-text('Claim'), button:has-text('Go on')").first.click()
    page.wait_for_url(re.compile("/reviews/rev_"))
    return page


def _seed(settings: Settings) -> None:
    database = Database(settings, FakeSender())
    with database.write() as session:
        for login, role in PEOPLE.items():
            accounts.create_user(session, login=login, name=login.title(), roles=[role], password=PASSWORD)
        factories.make_task(session, settings)
    database.close()


def _environment(settings: Settings) -> dict[str, str]:
    return {
        **os.environ,
        "WORKBENCH_DATA_DIR": str(settings.data_dir),
        "WORKBENCH_SECRET_KEY": settings.secret_key,
        "WORKBENCH_RUNTIMES": json.dumps({"torch": sys.executable}),
        "WORKBENCH_ENGINE": "tests.journeys.engine:evaluate",
        "WORKBENCH_ENGINE_OVERRIDE": "true",
        "WORKBENCH_SLOTS_PER_SUBJECT": "1",
        "PYTHONPATH": str(REPOSITORY),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"workbench serve ended: {log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{url}/ready", timeout=2) as answer:  # noqa: S310 - our own loopback address
                if json.load(answer)["broker"] == "ok":
                    return
        except OSError:
            pass
        time.sleep(0.3)
    pytest.fail(f"workbench serve was not ready in {START_SECONDS} s: {log.read_text()[-2000:]}")
