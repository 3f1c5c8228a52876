"""The pages say what the code says."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from app.config import Settings
from app.domain import review
from app.domain.events import MEANINGS
from app.domain.findings import REGISTER
from app.domain.report import PRECEDENCE, StageName, Verdict

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PATH_ROW = re.compile(r"^\| \d+ \| `([^`]+)` \| (?:`([^`]+)`)? ?\|", re.MULTILINE)
PATH_STEPS = PATH_ROW.findall((DOCS / "path-of-a-kernel.md").read_text())


def functions_in(file):
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}


def generated_pages():
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


@pytest.mark.parametrize(("file", "function"), PATH_STEPS, ids=lambda name: name)
def test_each_step_of_the_path_exists(file, function):
    assert (ROOT / file).is_file()
    if function:
        assert function in functions_in(ROOT / file)


def test_the_path_is_read_whole():
    assert len(PATH_STEPS) == (DOCS / "path-of-a-kernel.md").read_text().count("\n| ") - 1


@pytest.mark.parametrize("page", sorted(generated_pages()))
def test_pages_made_from_the_code_are_fresh(page):
    """When this fails: `make docs`."""
    assert (ROOT / page).read_text() == generated_pages()[page]


def test_every_finding_code_is_explained():
    text = (DOCS / "findings.md").read_text()

    assert [code for code in REGISTER if f"`{code}`" not in text] == []


def test_every_event_is_explained():
    text = (DOCS / "webhooks.md").read_text()

    assert [event for event, meaning in MEANINGS.items() if f"| `{event}` | {meaning} |" not in text] == []


def test_every_setting_is_explained():
    text = (DOCS / "settings.md").read_text()

    assert [name for name in Settings.model_fields if f"`WORKBENCH_{name.upper()}`" not in text] == []
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_verdict_and_stage_is_in_the_glossary():
    text = (DOCS / "glossary.md").read_text()

    assert [verdict for verdict in Verdict if f"| `{verdict}` |" not in text] == []
    assert [stage for stage in StageName if stage not in text] == []


def test_the_glossary_keeps_the_verdicts_in_the_order_of_precedence():
    listed = re.findall(r"^\| `(\w+)` \|", (DOCS / "glossary.md").read_text(), re.MULTILINE)

    assert listed == [verdict.value for verdict in (*PRECEDENCE, Verdict.ACCEPTED)][: len(listed)]
    assert len(listed) == len(Verdict)


@pytest.mark.parametrize("states", [review.EvaluationState, review.SlotState, review.ReviewState])
def test_every_state_is_drawn(states):
    section = (DOCS / "states.md").read_text().partition(f"(`{states.__name__}`)")[2].partition("\n## ")[0]

    assert [state for state in states if f"| `{state}` |" not in section] == []


def test_decisions_are_numbered_without_a_gap():
    numbers = [int(page.name[:4]) for page in sorted((DOCS / "decisions").glob("*.md"))]

    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page):
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)\)", (ROOT / page).read_text())

    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


def test_files_to_imitate_exist():
    named = re.findall(r"^- `([^`]+\.py)`", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)

    assert len(named) == 2
    assert all((ROOT / name).is_file() for name in named)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_that_is_named_exists(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`(?:WORKBENCH_\w+=\S+ )?make ([a-z-]+)", (ROOT / page).read_text()))

    assert named <= targets
