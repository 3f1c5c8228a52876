"""`workbench serve`: from nothing to a running workbench, and back, with nothing left over."""

from __future__ import annotations

import contextlib
import sys
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass

from app.config import Settings
from app.supervisor import broker, plan, prepare
from app.supervisor.children import say
from app.supervisor.errors import ChildFailed, ServeError
from app.supervisor.plan import Address
from app.supervisor.supervisor import Supervisor

STOP_LAST = ("scheduler", "worker", "broker")
_BROKER_START_SECONDS = 15.0
_WEB_START_SECONDS = 90.0


@dataclass(frozen=True)
class Options:
    """`concurrency` is how many jobs the worker runs at a time."""

    address: Address
    demo: bool = False
    concurrency: int = 2


def serve(settings: Settings, options: Options) -> int:
    """Run until told to stop; the exit status, after one sentence when something is wrong."""
    supervisor = Supervisor()
    try:
        plan.require_free(options.address)
        plan.require_runtimes(settings)
        with plan.lock_data_folder(settings):
            supervisor.listen_to_signals()
            supervisor.adopt_orphans()
            try:
                _start_and_watch(supervisor, settings, options)
            finally:
                _stop(supervisor)
    except ServeError as error:
        print(f"workbench serve: {error}", file=sys.stderr)  # noqa: T201 - the one sentence
        return error.status
    say("serve", "stopped")
    return 0


def serve_web(settings: Settings, address: Address, *, is_behind_proxy: bool) -> int:
    """The web processes alone, for a house whose other parts run elsewhere; the exit status."""
    supervisor = Supervisor()
    try:
        plan.require_free(address)
        supervisor.listen_to_signals()
        try:
            for web in plan.web(settings, address, {}, is_behind_proxy=is_behind_proxy):
                supervisor.start(web)
            supervisor.watch(until=lambda: False)
        finally:
            _stop(supervisor)
    except ServeError as error:
        print(f"workbench web: {error}", file=sys.stderr)  # noqa: T201 - the one sentence
        return error.status
    return 0


def _start_and_watch(supervisor: Supervisor, settings: Settings, options: Options) -> None:
    environment = _start_broker(supervisor, settings)
    prepare.migrate(settings)
    if supervisor.is_stopping:
        return
    environment |= {"WORKBENCH_DATA_DIR": str(settings.data_dir)}
    if "base_url" not in settings.model_fields_set:
        environment["WORKBENCH_BASE_URL"] = options.address.url
    logins = prepare.seed_demo(settings) if options.demo else ()
    supervisor.start(plan.worker(environment, options.concurrency))
    for web in plan.web(settings, options.address, environment):
        supervisor.start(web)
    supervisor.start(plan.scheduler(environment))
    if _wait_for_web(supervisor, options.address):
        _greet(options.address, logins)
        if options.demo:
            _review_demo(supervisor, settings)
        supervisor.watch(until=lambda: False)


def _stop(supervisor: Supervisor) -> None:
    """First what takes requests."""
    webs = [name for name in supervisor.children if name not in STOP_LAST]
    supervisor.stop([*webs, *STOP_LAST])


def _review_demo(supervisor: Supervisor, settings: Settings) -> None:
    """Beside the watching: its evaluations take a minute, and a demo without reviews shows half of the house."""
    told = {"is_stopping": lambda: supervisor.is_stopping}
    threading.Thread(target=prepare.review_demo, args=(settings,), kwargs=told, name="demo", daemon=True).start()


def _start_broker(supervisor: Supervisor, settings: Settings) -> dict[str, str]:
    """Start the embedded broker, or find the other one answering; what children are told of it."""
    planned = broker.plan(settings)
    if planned.spec is not None:
        supervisor.start(planned.spec)
    if (
        not supervisor.watch(lambda: broker.is_answering(planned.url), _BROKER_START_SECONDS)
        and not supervisor.is_stopping
    ):
        where = "The embedded broker" if planned.spec else "The broker named in WORKBENCH_BROKER_URL"
        raise ChildFailed(f"{where} does not answer after {_BROKER_START_SECONDS:.0f} seconds.")
    return {"WORKBENCH_BROKER_URL": planned.url}


def _wait_for_web(supervisor: Supervisor, address: Address) -> bool:
    is_up = supervisor.watch(lambda: _is_healthy(address), _WEB_START_SECONDS)
    if not is_up and not supervisor.is_stopping:
        raise ChildFailed(
            f"The web server did not answer on {address.url}/health within {_WEB_START_SECONDS:.0f} seconds."
        )
    return is_up


def _is_healthy(address: Address) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback needs no proxy
    with contextlib.suppress(urllib.error.URLError, OSError), opener.open(f"{address.url}/health", timeout=2) as answer:
        return bool(answer.status == 200)
    return False


def _greet(address: Address, logins: tuple[prepare.DemoLogin, ...]) -> None:
    say("serve", f"ready: open {address.url} (Ctrl-C stops everything)")
    for login in logins:
        say("serve", f"  sign in as {login.login:<12} password {login.password:<12} {login.role}")
