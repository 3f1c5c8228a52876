"""Bad input against the running service: each gets a clear answer, and nothing that was there is lost.

`python -m tests.run_bad_input` starts a service of its own and prints the answers as a table.
"""

from __future__ import annotations

import io
import json
import re
import signal
import socket
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from app.accounts import service as accounts
from app.accounts.policy import viewer_of
from app.config import REPOSITORY, Settings
from app.domain.review import Role
from app.kit.db import Database
from tests.conftest import make_settings, migrate
from tests.fakes import FakeSender
from tests.serve.test_serve import Served, free_port

PYTHON = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
PASSWORD = "correct horse battery"
WAIT_SECONDS = 400

TASK = """\
schema = 1
name = "{name}"
title = "Double"
kind = "generation"
frameworks = ["torch"]
description = "Twice the input."
{more}
[[workloads]]
name = "small"
params = {{ n = 64 }}
"""
REFERENCE = """\
import torch

def make_inputs(*, seed, n):
    return (torch.randn(n, generator=torch.Generator().manual_seed(seed)),)

def reference(x):
    {body}
"""
KERNEL = "def solution(x):\n    return 2 * x\n"


class Answer(NamedTuple):
    """What came back: an HTTP status or a verdict, and what was said."""

    outcome: str
    said: str


class House:
    """The running service, as a script with a token and as a person with a browser see it."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.script = httpx.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self.browser = httpx.Client(base_url=url, headers={"Accept": "text/html"}, follow_redirects=True, timeout=60)
        page = self.browser.get("/sign-in").text
        self.browser.post("/sign-in", data={"login": "sue", "password": PASSWORD, "csrf_token": csrf(page)})

    def close(self) -> None:
        self.script.close()
        self.browser.close()

    def send(self, data: bytes, filename: str = "solution.py", task: str = "double", **headers: str) -> Answer:
        """A file through the API."""
        return told(
            self.script.post("/submissions", data={"task": task}, files={"file": (filename, data)}, headers=headers)
        )

    def upload_form(self, filename: str, data: bytes) -> httpx.Response:
        """A file through the page, with words typed beside it."""
        token = csrf(self.browser.get("/submissions/new").text)
        typed = {"task": "double", "title": "my title", "explanation": "my long explanation", "csrf_token": token}
        return self.browser.post("/submissions/new", data=typed, files={"files": (filename, data)})

    def add_task(self, name: str, body: str, more: str = "") -> Answer:
        tree = {"task.toml": TASK.format(name=name, more=more), "reference.py": REFERENCE.format(body=body)}
        return told(self.script.post("/tasks", files={"bundle": ("task.zip", archive(tree))}))

    def judge(self, task: str, source: str = KERNEL) -> Answer:
        """Submit, wait until the evaluation has ended, and say its verdict and gravest finding."""
        sent = self.script.post("/submissions", json={"task": task, "files": {"solution.py": source}})
        assert sent.status_code == 201, sent.text
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            [evaluation] = self.script.get(f"/submissions/{sent.json()['id']}").json()["evaluations"]
            if evaluation["state"] in ("done", "failed"):
                report = self.script.get(f"/evaluations/{evaluation['id']}/report").json()
                said = [f"{f['code']}: {f['message']}" for f in report.get("findings", ())]
                return Answer(str(evaluation["verdict"]), (said or [report.get("headline", evaluation["state"])])[0])
            time.sleep(0.3)
        return Answer("no answer", f"still {evaluation['state']} after {WAIT_SECONDS} s")


def csrf(page: str) -> str:
    return re.search(r'name="csrf_token" value="([^"]+)"', page)[1]


def told(answer: httpx.Response) -> Answer:
    body = answer.json()
    return Answer(str(answer.status_code), sentences(body) if "detail" in body else "taken")


def sentences(problem: dict[str, str]) -> str:
    return f"{problem['detail'].rstrip('.')}. {problem.get('what_to_do', '')}".strip()


def archive(tree: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for path, text in tree.items():
            packed.writestr(path, text)
    return made.getvalue()


class Case(NamedTuple):
    name: str
    send: Callable[[House], Answer]
    outcome: str
    says: str


def broken_toml(house: House) -> Answer:
    tree = {
        "task.toml": TASK.format(name="broken", more='[tolerance]\natol = "small"'),
        "reference.py": REFERENCE.format(body="return 2 * x"),
    }
    return told(house.script.post("/tasks", files={"bundle": ("task.zip", archive(tree))}))


def hundred_megabytes(house: House) -> Answer:
    """Sent raw: a client that writes it all before it reads must find the answer, not a cut line."""
    head = (
        "POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        f"Authorization: {house.script.headers['Authorization']}\r\nContent-Length: {100 << 20}\r\n\r\n"
    )
    address = httpx.URL(house.url)
    with socket.create_connection((address.host, address.port), timeout=60) as line:
        line.sendall(head.encode())
        written = b"--b\r\n" + bytes(1 << 16)
        try:
            for _ in range(100 << 4):
                line.sendall(written)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            answer = b"".join(iter(lambda: line.recv(1 << 16), b"")).decode()
        except ConnectionResetError:
            return Answer("cut", "the connection was reset before an answer came")
    body = json.loads(answer.partition("\r\n\r\n")[2])
    return Answer(answer.split()[1], sentences(body))


def page_keeps_what_was_typed(house: House) -> Answer:
    page = house.upload_form("kernel.zip", b"PK\x03\x04 this is no archive")
    kept = [words for words in ("my title", "my long explanation") if words in page.text]
    said = re.search(r'id="refusal"[^>]*><strong>(.*?)</strong>', page.text)
    return Answer(str(page.status_code), f"{said[1] if said else 'no refusal'} Kept on the page: {', '.join(kept)}")


CASES = (
    Case("unreadable archive", lambda h: h.send(b"PK\x03\x04 this is no archive", "kernel.zip"), "422", "archive"),
    Case("unreadable archive, by page", page_keeps_what_was_typed, "422", "my title, my long explanation"),
    Case("100 MB file", hundred_megabytes, "413", "larger than"),
    Case("binary as source", lambda h: h.send(bytes(range(256)) * 40, "solution.py"), "422", "solution.py"),
    Case("`..` in a path", lambda h: h.send(archive({"../../etc/x.py": KERNEL}), "k.zip"), "422", ".."),
    Case("wrong token", lambda h: h.send(b"x = 1", Authorization="Bearer wb_wrong"), "401", "token"),
    Case("unknown task", lambda h: h.send(KERNEL.encode(), task="no-such-task"), "404", "no-such-task"),
    Case("malformed task.toml", broken_toml, "422", "task.toml:8: tolerance.atol"),
    Case("a reference that raises", lambda h: h.judge("raises"), "invalid_task", "task.reference_raises"),
)
# Two minutes: a first call may import and compile.  The judge's tests wait for one too, so only the table has it.
HANGS = Case("a reference that hangs", lambda h: h.judge("hangs"), "invalid_task", "task.reference_hangs")


@contextmanager
def running_house(folder: Path) -> Iterator[House]:
    """`workbench serve` on a free port, with one person who may do everything and three tasks."""
    settings = make_settings(folder / "data")
    migrate(settings)
    token = _seed(settings)
    port = free_port()
    served = Served(
        settings.data_dir, "--port", str(port),
        WORKBENCH_SECRET_KEY=settings.secret_key, WORKBENCH_RUNTIMES=f'{{"torch": "{PYTHON}"}}',
    )  # fmt: skip
    try:
        assert served.says(f"ready: open http://127.0.0.1:{port}"), served.log.read_text()
        house = House(f"http://127.0.0.1:{port}", token)
        assert house.add_task("double", "return 2 * x").outcome == "201"
        assert house.add_task("raises", 'raise ValueError("the table of weights is missing")').outcome == "201"
        assert house.add_task("hangs", "while True: pass", "[limits]\nseconds = 2").outcome == "201"
        yield house
        house.close()
        served.process.send_signal(signal.SIGINT)
        served.process.wait(timeout=60)
    finally:
        served.end()


def _seed(settings: Settings) -> str:
    database = Database(settings, FakeSender())
    with database.write() as session:
        user = accounts.create_user(session, login="sue", name="Sue", roles=list(Role), password=PASSWORD)
        _, secret = accounts.create_token(
            session, settings, viewer_of(user), name="tests", scopes=("read", "submit", "admin")
        )
    database.close()
    return secret


def main() -> None:
    """Print each answer, then that the service still judges."""
    with tempfile.TemporaryDirectory() as folder, running_house(Path(folder)) as house:
        print(f"{'sent':<30}{'answer':<14}said")
        for case in (Case("a good kernel before", lambda h: h.judge("double"), "", ""), *CASES, HANGS):
            answer = case.send(house)
            print(f"{case.name:<30}{answer.outcome:<14}{answer.said}", flush=True)
        items = house.script.get("/submissions").json()["items"]
        verdicts = ", ".join(str(item["evaluations"][0]["verdict"]) for item in reversed(items))
        again = house.judge("double", KERNEL.replace("2 * x", "x + x"))
        print(f"\nafter all that: {len(items)} submissions kept ({verdicts}); another good kernel: {again.outcome}")


if __name__ == "__main__":
    main()
