"""Runs the `check_*` functions of each program in a fork of its own and prints what failed, as JSON."""

# ruff: noqa: BLE001, ICN001, T201 - a program for another interpreter

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import sys
import traceback

import numpy  # noqa: F401 - imported before the fork, as the candidate's server does
import torch
import triton  # noqa: F401

from workers.candidate.frameworks.triton import TritonFramework


def run_checks(path: pathlib.Path) -> dict[str, str | None]:
    """Loads a program with Triton taken over; each check gets the framework after `before_call`."""
    torch.set_num_threads(1)
    framework = TritonFramework()
    framework.setup()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    results: dict[str, str | None] = {}
    for name in [n for n in vars(program) if n.startswith("check_")]:
        framework.before_call(budget_seconds=30.0, skip_launches=False)
        framework.interpreter.detect_races = False
        try:
            getattr(program, name)(framework)
            json.dumps(framework.after_call())
            results[name] = None
        except Exception:
            results[name] = traceback.format_exc()
    return results


def in_a_fork(path: pathlib.Path) -> dict[str, str | None]:
    """The results of a program, or one entry `crash` when its process died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            json.dump(run_checks(path), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as incoming:
        text = incoming.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"crash": f"wait status {status}"}


if __name__ == "__main__":
    report = {pathlib.Path(p).stem: in_a_fork(pathlib.Path(p)) for p in sys.argv[1:]}
    print("RESULTS " + json.dumps(report))
