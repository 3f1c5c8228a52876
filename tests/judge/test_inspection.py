"""Rules over the source look at what a harness runs, and not at an author's self-tests beside it."""

from __future__ import annotations

import pytest

from workers.judge.inspection import inspect_python

KERNEL = "import sys, torch\n\ndef solution(x):\n    return {body}\n"
SELF_TEST = """
def check():
    torch.manual_seed(0)
    x = torch.randn(4)
    sys.exit(0 if (solution(x) == x).all() else 1)

def main():
    check()
"""
AS_SCRIPT = '\nif __name__ == "__main__":\n    main()\n'


def codes(source, entry="solution"):
    return {hit.code for hit in inspect_python("a.py", source, entry)}


def test_a_self_test_that_only_runs_as_a_script_is_no_hit():
    assert codes(KERNEL.format(body="x") + SELF_TEST + AS_SCRIPT) == set()


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(KERNEL.format(body="x") + SELF_TEST + "\nmain()\n", id="run on import"),
        pytest.param(KERNEL.format(body="check() or x") + SELF_TEST + AS_SCRIPT, id="used by the entry"),
        pytest.param(KERNEL.format(body='globals()["check"]() or x') + SELF_TEST + AS_SCRIPT, id="looked up by name"),
        pytest.param(
            KERNEL.format(body="x") + "f = lambda: check()\n" + SELF_TEST + AS_SCRIPT, id="used by a variable"
        ),
        pytest.param(KERNEL.format(body="x") + SELF_TEST, id="not known to be a script's"),
        pytest.param(
            KERNEL.format(body="x") + SELF_TEST + AS_SCRIPT + "else:\n    main()\n", id="run where it is no script"
        ),
        pytest.param(KERNEL.format(body="x") + SELF_TEST + AS_SCRIPT.replace("==", "!="), id="run when imported"),
        pytest.param(
            KERNEL.format(body="x") + SELF_TEST + "\n@(lambda f: main() or f)\ndef late(): pass\n" + AS_SCRIPT,
            id="used by a decorator",
        ),
        pytest.param(
            KERNEL.format(body="x") + SELF_TEST.replace("check", "solution") + AS_SCRIPT, id="the name is defined twice"
        ),
    ],
)
def test_whatever_else_uses_it_shows(source):
    assert codes(source) == {"integrity.seed_replay", "integrity.process_exit"}


def test_where_the_entry_is_not_known_only_the_block_itself_is_left_out():
    source = KERNEL.format(body="x") + SELF_TEST + AS_SCRIPT + "    sys._getframe()\n"
    assert codes(source, None) == {"integrity.seed_replay", "integrity.process_exit"}
