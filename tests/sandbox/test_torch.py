"""The real runtime, where it is installed: a framework works inside, cold, warm and without control groups."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest

from workers.sandbox import ForkServer, Limits, Program, Runtime, cold

PROBE = Path(__file__).with_name("probe")
PYTHON = Path(__file__).parents[2] / ".runtimes" / "torch" / "bin" / "python"
MULTIPLY = """
import numpy, torch
a = numpy.arange(512 * 512, dtype="float32").reshape(512, 512) % 7
result = bool(numpy.allclose(a @ a, (torch.from_numpy(a) @ torch.from_numpy(a)).numpy()))
"""

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the torch runtime is not installed here")


@pytest.fixture(scope="module")
def torch_runtime():
    return Runtime("torch", PYTHON)


@pytest.fixture(scope="module")
def torch_program(torch_runtime):
    return Program(torch_runtime, "probe", {"/probe": PROBE}, code_folder="/probe")


def test_a_fresh_interpreter_multiplies_within_its_address_space(walls, torch_program, run):
    no_groups = dataclasses.replace(walls, groups=None)
    with cold.start(torch_program, Limits(memory_mb=4096), isolation=no_groups) as session:
        assert run(session, MULTIPLY, timeout_s=60) is True
        assert session.log == ""  # nothing that a library misses inside


def test_forked_jobs_multiply_and_start_fast(walls, torch_runtime, torch_program, run):
    server = ForkServer(torch_runtime, walls=walls)
    server.prepare()
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        with server.start(torch_program, Limits()) as session:
            seconds.append(time.perf_counter() - began)
            assert run(session, MULTIPLY, timeout_s=60) is True
    server.close()
    assert min(seconds[1:]) < 0.3  # some 40 ms on an idle machine; the first waits for the import
