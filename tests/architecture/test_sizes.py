"""Small enough to read: files of at most 400 lines, functions of at most 60."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES_MAX, FUNCTION_LINES_MAX = 400, 60
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}
ROOMS = ("app", "workers", "workbench_checks")


def source_files(*folders):
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def in_repository(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("folder", ROOMS)
def test_files_are_short(folder):
    long = {
        in_repository(f): lines
        for f in source_files(folder)
        if (lines := len(f.read_text().splitlines())) > FILE_LINES_MAX
    }

    assert long == {}


@pytest.mark.parametrize("folder", ROOMS)
def test_functions_are_short(folder):
    long = {
        f"{in_repository(file)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for file in source_files(folder)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES_MAX
    }

    assert long == {}


def test_file_names_say_what_is_inside():
    """`utils` and its like say nothing, so anything ends up there."""
    folders = [folder for name in (*ROOMS, "tests") for folder in (ROOT / name).rglob("*") if folder.is_dir()]
    vague = [in_repository(path) for path in (*source_files(*ROOMS, "tests"), *folders) if path.stem in FORBIDDEN_NAMES]

    assert vague == []
