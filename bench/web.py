"""How fast the web side is, on SQLite and on PostgreSQL, with few and with many subjects.

`make bench-web`: every figure is of HTTP requests to as many web processes as `workbench serve` starts here, from
clients on the same machine.  All deployments run at the same time and are asked in turn, so that whatever else
the machine does hits them alike.  PostgreSQL is a server of its own without fsync, SQLite in WAL mode as always.
Exits 1 when a bound is missed.  `--quick` takes seconds and asks only what no clock decides.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from app.config import Settings  # noqa: E402
from app.supervisor import plan as processes  # noqa: E402
from bench.service import _free_port as free_port  # noqa: E402
from bench.web_seed import Reviewer, seed  # noqa: E402
from tests import postgres  # noqa: E402

DATABASES = ("sqlite", "postgresql")
STEPS = ("queue page", "deep page", "claim", "open", "autosave", "submit")
GROWTH_MAX = 1.5
CLAIM_P95_MS_MAX, CLAIM_AT = 28.0, 10_000
SUBMITS_PER_S_MIN = 150.0
FIRST_LOAD_BYTES_MAX = 200_000
# A whole review of the shipped rubrics is made of what the server says is missing.
_DRAFT = {
    "scores": {},
    "feedback": "Mask the tail: rows beyond the last whole block are never written.",
    "decision": "revise",
    "confidence": 2,
}


@dataclass(frozen=True)
class Plan:
    sizes: tuple[int, ...]
    rounds: int
    samples: int
    clients: int
    claims: int
    submits: int


FULL = Plan((1_000, 10_000, 100_000), rounds=5, samples=20, clients=16, claims=10_000, submits=480)
QUICK = Plan((100, 200), rounds=1, samples=3, clients=8, claims=96, submits=24)


class Client:
    """One reviewer with a connection that is kept open."""

    def __init__(self, port: int, reviewer: Reviewer) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {reviewer.token}", "Content-Type": "application/json"}
        self.rubrics: dict[str, Any] = {}
        self._cookie = {"Cookie": f"workbench_session={reviewer.cookie}"}

    def page(self, path: str) -> str:
        return self._ask("GET", path, self._cookie).decode()

    def api(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._ask(method, f"/api/v1{path}", self._headers, json.dumps(body) if body is not None else None)
        return json.loads(answer) if answer else None

    def _ask(self, method: str, path: str, headers: dict[str, str], body: str | None = None) -> bytes:
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {data[:500]!r}")
        return data


@dataclass
class Deployment:
    """A server over one database; `times` maps (step, how) to seconds."""

    database: str
    size: int
    port: int
    reviewers: list[Reviewer]
    logs: list[Path]
    deep: str = ""
    times: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.database} {self.size}"

    def clients(self, count: int) -> list[Client]:
        return [Client(self.port, reviewer) for reviewer in self.reviewers[:count]]

    def find_deep_page(self) -> None:
        """The cursor of the page in the middle of the first reviewer's queue."""
        client, cursor, seen, limit = self.clients(1)[0], "", 0, min(200, self.size // 8)
        while seen < self.size // 2:
            path = f"/queue?limit={limit}"
            answer = client.api("GET", f"{path}&cursor={cursor}" if cursor else path)
            cursor, seen = answer["next_cursor"], seen + len(answer["items"])
        self.deep = cursor

    def timed(self, step: str, how: str, do: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        answer = do()
        self.times.setdefault((step, how), []).append(time.perf_counter() - start)
        return answer


def one_review(deployment: Deployment, client: Client, how: str) -> None:
    """Every step of a reviewer's round once: look, look far down, take, open, type, hand in."""
    deployment.timed("queue page", how, lambda: client.page("/queue"))
    deployment.timed("deep page", how, lambda: client.page(f"/queue?cursor={deployment.deep}"))
    claim = deployment.timed("claim", how, lambda: client.api("POST", "/queue/next"))
    review = deployment.timed("open", how, lambda: client.api("POST", "/reviews", {"slot": claim["slot"]}))
    path = f"/reviews/{review['id']}"
    draft = {"base_version": 0, "content": _DRAFT}
    deployment.timed("autosave", how, lambda: client.api("PUT", f"{path}/draft", draft))
    content = whole_review(client, review)
    deployment.timed("submit", how, lambda: client.api("POST", f"{path}/submit", {"content": content}))


def whole_review(client: Client, review: dict[str, Any]) -> dict[str, Any]:
    """A review that lacks nothing, whatever the rubric asks for."""
    version = review["rubric_version"]
    rubric = client.rubrics.get(version) or client.api("GET", f"/rubrics/{version}")["content"]
    client.rubrics[version] = rubric
    said = {"level": None, "state": "cannot_judge", "rationale": "not looked at: this is a measurement"}
    return _DRAFT | {"scores": {criterion["key"]: said for criterion in rubric["criteria"]}}


def at_once(clients: list[Client], do: Callable[[Client], Any]) -> list[Any]:
    """`do` with every client at the same time; the answers, or the first error."""
    answers: list[Any] = []
    errors: list[Exception] = []
    start = threading.Barrier(len(clients))

    def run(client: Client) -> None:
        start.wait()
        try:
            answers.append(do(client))
        except Exception as error:  # noqa: BLE001 - raised below, in the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=run, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers


def measure(deployments: list[Deployment], plan: Plan) -> None:
    """Sequential and concurrent rounds, each deployment in turn."""
    for deployment in deployments:
        deployment.find_deep_page()
        one_review(deployment, deployment.clients(1)[0], "warm-up")
    for _ in range(plan.rounds):
        for deployment in deployments:
            for client in deployment.clients(plan.samples):
                one_review(deployment, client, "alone")
        for deployment in deployments:
            at_once(deployment.clients(plan.clients), lambda client, d=deployment: one_review(d, client, "together"))


def submits_per_second(deployment: Deployment, plan: Plan, clients: int = 8) -> float:
    """Reviews that are ready are handed in by eight people at once."""
    people = deployment.clients(clients)
    ready: dict[int, list[tuple[str, Any]]] = {id(client): [] for client in people}
    for n in range(plan.submits):
        client = people[n % clients]
        review = client.api("POST", "/reviews", {"slot": client.api("POST", "/queue/next")["slot"]})
        ready[id(client)].append((review["id"], whole_review(client, review)))

    def hand_in(client: Client) -> None:
        for review, content in ready[id(client)]:
            client.api("POST", f"/reviews/{review}/submit", {"content": content})

    start = time.perf_counter()
    at_once(people, hand_in)
    return plan.submits / (time.perf_counter() - start)


def claimed_twice(deployment: Deployment, plan: Plan) -> tuple[int, int, float]:
    """Claims by all clients at once: (how many, how many slots handed out twice, claims per second)."""
    share = plan.claims // plan.clients

    def take(client: Client) -> list[str]:
        return [client.api("POST", "/queue/next")["slot"] for _ in range(share)]

    start = time.perf_counter()
    slots = [slot for taken in at_once(deployment.clients(plan.clients), take) for slot in taken]
    return len(slots), len(slots) - len(set(slots)), len(slots) / (time.perf_counter() - start)


def first_load(deployment: Deployment) -> tuple[int, int]:
    """Bytes of a review page with all that it links, as they are and gzipped."""
    client = deployment.clients(1)[0]
    review = client.api("POST", "/reviews", {"slot": client.api("POST", "/queue/next")["slot"]})
    page = client.page(f"/reviews/{review['id']}")
    linked = sorted(set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page)))
    parts = [page.encode(), *(client.page(path).encode() for path in linked)]
    return sum(map(len, parts)), sum(len(gzip.compress(part)) for part in parts)


def table(deployments: list[Deployment]) -> None:
    print(f"{'milliseconds':<12}{'':<18}{'alone':>16}{'16 clients':>18}")
    print(f"{'step':<12}{'database':<11}{'subjects':>7}{'p50':>8}{'p95':>8}{'p50':>10}{'p95':>8}{'n':>6}")
    for step in STEPS:
        for d in deployments:
            alone, together = d.times[step, "alone"], d.times[step, "together"]
            print(
                f"{step:<12}{d.database:<11}{d.size:>7}{_ms(alone, 50):>8.1f}{_ms(alone, 95):>8.1f}"
                f"{_ms(together, 50):>10.1f}{_ms(together, 95):>8.1f}{len(alone):>6}"
            )


def growth(deployments: list[Deployment]) -> Iterator[tuple[str, float, float]]:
    """How much slower the largest is than the smallest, step by step."""
    for database in {d.database: None for d in deployments}:
        small, *_, large = sorted((d for d in deployments if d.database == database), key=lambda d: d.size)
        for step in STEPS:
            for how in ("alone", "together"):
                ratio = _ms(large.times[step, how], 95) / _ms(small.times[step, how], 95)
                yield f"p95 of {step}, {how}, {database}: {large.size} against {small.size}", ratio, GROWTH_MAX


def _ms(seconds: list[float], percent: int) -> float:
    if len(seconds) == 1:
        return seconds[0] * 1000
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000


@contextlib.contextmanager
def deployed(database: str, size: int, server: str | None, folder: Path) -> Iterator[Deployment]:
    """Seed a database and serve it."""
    url = ""
    if server is not None:
        name = f"bench_{size}"
        _execute(server, f"CREATE DATABASE {name}")
        url = server.replace("/postgres?", f"/{name}?")
    given = {"data_dir": str(folder), "database_url": url, "secret_key": "bench", "held_items_max": 10**6}
    started = time.monotonic()
    settings = Settings(_env_file=None, **given)
    reviewers = seed(settings, size)
    print(f"seeded {database} with {size} subjects in {time.monotonic() - started:.0f} s", flush=True)
    environment = {f"WORKBENCH_{name.upper()}": str(value) for name, value in given.items()}
    port = free_port()
    children = processes.web(settings, processes.Address("127.0.0.1", port), environment)
    logs = [folder / f"{child.name}.log" for child in children]
    webs = []
    for child, path in zip(children, logs, strict=True):
        with path.open("wb") as log:
            webs.append(
                subprocess.Popen(
                    child.command, cwd=REPOSITORY, env={**os.environ, **child.environment}, stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )  # fmt: skip
    try:
        for web, log in zip(webs, logs, strict=True):
            _wait_for(port, web, log)
        yield Deployment(database, size, port, reviewers, logs)
    finally:
        for web in webs:
            web.send_signal(signal.SIGTERM)
        for web in webs:
            web.wait(30)


def _wait_for(port: int, web: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        if web.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")


def _execute(url: str, statement: str) -> None:
    from sqlalchemy import create_engine, text

    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


def under_load(d: Deployment, plan: Plan) -> Iterator[tuple[str, float, float]]:
    """Submits at full speed, claims at full speed, and what a first visit carries."""
    rate = submits_per_second(d, plan)
    print(f"{d.name}: {rate:.0f} submits/s with 8 clients")
    yield f"seconds per 150 submits, 8 clients, {d.name}", SUBMITS_PER_S_MIN / rate, 1.0
    count, twice, rate = claimed_twice(d, plan)
    print(f"{d.name}: {count} claims by {plan.clients} clients, {rate:.0f}/s, {twice} slots handed out twice")
    yield f"slots handed out twice, {d.name}", twice, 0
    plain, packed = first_load(d)
    print(f"{d.name}: first load of the review page {plain / 1000:.0f} kB, {packed / 1000:.0f} kB gzipped")
    yield f"first load of the review page, gzipped bytes, {d.name}", packed, FIRST_LOAD_BYTES_MAX


def run(plan: Plan, databases: tuple[str, ...]) -> list[tuple[str, float, float]]:
    """Measure and print; (what, figure, its upper bound) for everything that has one."""
    bounds: list[tuple[str, float, float]] = []
    with contextlib.ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-web-")))
        server = stack.enter_context(postgres.server()) if "postgresql" in databases else None
        deployments = []
        for size in plan.sizes:
            for database in databases:
                folder = top / f"{database}-{size}"
                folder.mkdir()
                at = server if database == "postgresql" else None
                deployments.append(stack.enter_context(deployed(database, size, at, folder)))
        measure(deployments, plan)
        table(deployments)
        bounds += growth(deployments)
        for d in deployments:
            if d.size == CLAIM_AT:
                figure = _ms(d.times["claim", "alone"], 95)
                bounds.append((f"p95 of claim, alone, {d.name}, ms", figure, CLAIM_P95_MS_MAX))
            if d.size == plan.sizes[1]:
                bounds += under_load(d, plan)
        locked = sum(log.read_text().count("database is locked") for d in deployments for log in d.logs)
        bounds.append(('"database is locked" in the logs', locked, 0))
    return bounds


def main() -> int:
    is_quick = "--quick" in sys.argv
    bounds = run(QUICK if is_quick else FULL, DATABASES)
    missed = [b for b in bounds if b[1] > b[2]]
    for what, figure, bound in bounds:
        print(f"{'missed' if figure > bound else 'held':<7}{what}: {figure:.2f} (at most {bound:g})")
    # Seconds decide nothing in a quick run; slots and locks do.
    counted = [b for b in missed if b[2] == 0]
    return 1 if (counted if is_quick else missed) else 0


if __name__ == "__main__":
    sys.exit(main())
