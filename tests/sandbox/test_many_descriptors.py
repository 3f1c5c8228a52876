"""A worker that holds thousands of descriptors starts, questions and ends sessions as any other."""

from __future__ import annotations

import os
import resource

import pytest


@pytest.fixture
def many_open_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("not to be had here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    yield held
    for fd in held:
        os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_descriptors_above_those_that_select_takes(start, run, many_open_files, namespace_of, left_over):
    session = start()
    assert run(session, "result = 6 * 7") == 42
    namespace = namespace_of(session)
    session.close()
    assert not left_over(namespace)
