"""The command itself: what it offers, what it says of bad settings, and how little it loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import cli

WORKBENCH = Path(sys.executable).with_name("workbench")


def run(*arguments, **environment):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("WORKBENCH_")}
    return subprocess.run(
        [str(WORKBENCH), *arguments], env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


def test_all_commands_are_listed():
    words = run("--help").stdout.split()

    assert {"serve", "worker", "evaluate", "doctor", "schema", "admin"} <= set(words)


@pytest.mark.parametrize("name", ["serve", "worker", "doctor", "schema"])
def test_every_command_says_what_it_does(name):
    command = next(each for each in cli.registered_commands if (each.name or each.callback.__name__) == name)

    assert command.callback.__doc__.endswith(".")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("WORKBENCH_RUNTIMES", "torch", "WORKBENCH_RUNTIMES has to be JSON"),
        ("WORKBENCH_WEB_THREADS", "many", "WORKBENCH_WEB_THREADS: Input should be a valid integer"),
        ("WORKBENCH_WEB_THREADS", "0", "WORKBENCH_WEB_THREADS: Input should be greater than or equal to 1"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_sentence(name, value, sentence):
    done = run("serve", **{name: value})

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_asking_for_help_loads_nothing_heavy():
    code = """
        import sys
        from app import cli
        cli._add_other_commands()
        print(*{"fastapi", "sqlalchemy", "pydantic", "celery", "numpy", "redis"} & set(sys.modules))
    """
    lines = "\n".join(line.strip() for line in code.splitlines())

    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""
