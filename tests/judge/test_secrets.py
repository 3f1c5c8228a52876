"""The candidate looks everywhere it can: environment, descriptors, files, objects; nothing of the task is there."""

from __future__ import annotations

from app.domain.report import Verdict
from tests.judge.conftest import TASK

LOOKER = """
import gc
import os
import sys

import torch

WORD = bytes([122, 101, 98, 114, 97, 45])
LOOKED = FOUND = 0


def look(what, data):
    global LOOKED, FOUND
    LOOKED += 1
    if WORD in data:
        FOUND += 1
        print("FOUND", what, data[max(0, data.find(WORD) - 60):][:160])


def files():
    for top in ("/task", "/work", "/submission", "/tmp", "/dev/shm", "/home", "/root", "/run", os.getcwd()):
        for folder, _, names in os.walk(top):
            for name in names:
                yield os.path.join(folder, name)


def solution(x):
    look("environ", repr(dict(os.environ)).encode())
    look("argv", repr(sys.argv).encode())
    for name in ("environ", "cmdline", "mountinfo", "maps", "status", "net/unix"):
        for who in ("self", "1", str(os.getppid())):
            try:
                look(f"/proc/{who}/{name}", open(f"/proc/{who}/{name}", "rb").read())
            except OSError:
                pass
    for fd in os.listdir("/proc/self/fd"):
        try:
            look("fd", os.readlink(f"/proc/self/fd/{fd}").encode())
            look("fd", os.pread(int(fd), 1 << 20, 0))
        except OSError:
            pass
    for path in files():
        try:
            look(path, open(path, "rb").read(1 << 20))
        except OSError:
            pass
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if isinstance(value, (str, bytes)) and name not in ("__doc__", "WORD"):
                look(f"{module}.{name}", value.encode() if isinstance(value, str) else value)
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor and thing.numel() and thing.dtype == torch.float32 and float(thing.max()) > 9e5:
            print("FOUND a tensor of answers")
        if type(thing) is dict and ("tolerance" in thing or "atol" in thing or "seed" in thing) and "n" in thing:
            print("FOUND a table", list(thing)[:10])
    print("LOOKED", LOOKED)
    return x
"""
REFERENCE = """
import torch

WHERE = "zebra-in-the-reference"

def make_inputs(*, seed, n):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed))

def reference(x):
    return x + 918273.0
"""


def test_nothing_of_the_task_is_within_reach(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("ZEBRA_KEY", "zebra-in-the-environment")
    (tmp_path / "task" / "notes.txt").write_text("zebra-beside-the-task")
    task = TASK.replace("seconds = 5", "seconds = 60")
    report = bench.judge(LOOKER, reference=REFERENCE, extra="# zebra-in-the-task", task=task)
    assert report.verdict is Verdict.WRONG_RESULT, report.log[-2000:]
    assert "LOOKED" in report.log
    assert [line for line in report.log.splitlines() if line.startswith("FOUND")] == []


def test_the_seed_of_the_inputs_is_not_the_candidates(bench):
    """Else it could draw the inputs of later calls before they come."""
    replays = """
import torch

def solution(x):
    again = torch.randn(x.shape, generator=torch.Generator().manual_seed(torch.initial_seed()))
    return torch.zeros_like(x) if torch.equal(again, x) else x * 2
"""
    assert bench.judge(replays).verdict is Verdict.ACCEPTED
