"""Each complaint about another workbench is held by a test that exists, or says why by none."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^\| (\d+) \| [^|]+ \| [^|]*#\d+[^|]* \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
LINES = LINE.findall((ROOT / "docs" / "complaints.md").read_text())
HELD = {number: held.strip("`") for number, _, held in LINES if held.startswith("`")}


def names_in(file):
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}


def test_there_are_83_and_none_is_left_out():
    assert [int(number) for number, _, _ in LINES] == list(range(1, 84))


@pytest.mark.parametrize("number", HELD)
def test_the_named_test_exists(number):
    file, _, name = HELD[number].partition("::")

    assert name in names_in(ROOT / file)


def test_the_others_say_why():
    others = [held for _, _, held in LINES if not held.startswith("`")]

    assert [held for held in others if not re.match(r"not built yet|not applicable: \w+", held)] == []


def test_the_named_specimens_exist():
    named = re.findall(r"`([\w-]+/\w+\.py)`", " ".join(right for _, right, _ in LINES))

    assert len(named) >= 6
    assert [name for name in named if not (ROOT / "tests" / "kernels" / name).is_file()] == []
