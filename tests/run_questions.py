"""The twelve questions that a reviewer asks of a submission, put to the review page in a real browser.

`python -m tests.run_questions` prints the keys, the time and the answer of each, and exits 1 when one takes more than
two keys or a second.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.journeys.conftest import CHROMIUM_FLAGS
from tests.journeys.twelve_questions import KEYS_MAX, QUESTIONS, SECONDS_MAX, ask, asked_house, open_draft

ANSWER_WIDTH = 90


def main() -> int:
    browser_path = os.environ.get("WORKBENCH_TEST_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory(prefix="questions-") as folder,
        asked_house(Path(folder)) as (url, address),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(CHROMIUM_FLAGS))
        page = open_draft(browser, url, address)
        answers = [ask(page, address, question) for question in QUESTIONS]
        browser.close()
    print(f"{'question':<42}{'keys':<6}{'seconds':>8}  answer")
    for answered in answers:
        keys = answered.question.keys or "-"
        print(f"{answered.question.asks:<42}{keys:<6}{answered.seconds:>8.2f}  {answered.text[:ANSWER_WIDTH]}")
    late = sum(not answered.holds for answered in answers)
    print(f"{len(answers) - late} of {len(answers)} within {KEYS_MAX} keys and {SECONDS_MAX:g} s")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
