"""Writes the pages that are made from the code: `make docs`.  A test fails when they are stale."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.config import Settings  # noqa: E402
from app.domain.findings import REGISTER  # noqa: E402

_COMPOSE_ONLY = {
    "WORKBENCH_DATABASE_PASSWORD": "PostgreSQL's password.",
    "WORKBENCH_BROKER_PASSWORD": "Redis' password.",
    "WORKBENCH_HOSTNAME": "The name that the proxy answers to.",
}


def pages() -> dict[str, str]:
    """Path in the repository -> what it has to say."""
    return {"docs/settings.md": settings(), "docs/findings.md": findings(), ".env.example": env_example()}


def settings() -> str:
    lines = [
        "# Settings",
        "",
        "Every setting is an environment variable, or a line of `.env`; `.env.example` lists them all.",
        "This page is made from `app/config.py` by `make docs`.",
        "",
        "| Variable | Default | Meaning |",
        "|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        default = _default(name)
        shown = f"`{default}`" if default else "empty"
        lines.append(f"| `WORKBENCH_{name.upper()}` | {shown} | {_cell(field.description or '')} |")
    return "\n".join(lines) + "\n"


def env_example() -> str:
    lines = ["# Every setting with its default.  Copy to .env and uncomment what you change.", ""]
    for name, field in Settings.model_fields.items():
        lines += [f"# {field.description}", f"#WORKBENCH_{name.upper()}={_default(name)}", ""]
    lines += ["# Read by docker-compose.yml alone; WORKBENCH_SECRET_KEY is needed there too.", ""]
    for name, meaning in _COMPOSE_ONLY.items():
        lines += [f"# {meaning}", f"#{name}=", ""]
    return "\n".join(lines)


def findings() -> str:
    lines = [
        "# Failure modes",
        "",
        "What a finding's code means, how a reviewer can see it, and what to tell the author.",
        "This page is made from the register in `app/domain/findings.py` by `make docs`.",
    ]
    for code in sorted(REGISTER):
        kind = REGISTER[code]
        lines += [
            *("", f"## `{code}`: {kind.title}", ""),
            *(f"- Cause: {kind.cause}", f"- To confirm: {kind.confirm}", f"- To the author: {kind.advice}"),
        ]
    return "\n".join(lines) + "\n"


def _default(name: str) -> str:
    field = Settings.model_fields[name]
    value = field.get_default(call_default_factory=True)
    if isinstance(value, bool | dict):
        return json.dumps(value) if value != {} else ""
    return str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for path, text in pages().items():
        (ROOT / path).write_text(text)
