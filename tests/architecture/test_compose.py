"""The Compose file's structure; `make lint-compose` checks it against the specification."""

import re
from pathlib import Path

import pytest
import yaml

from app.config import Settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
OURS = {name: service for name, service in SERVICES.items() if "build" in service}


def test_all_parts_are_there():
    parts = {"proxy", "web", "scheduler", "migrations", "worker-cpu", "worker-gpu", "database", "broker"}

    assert set(SERVICES) == parts


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_built_here_or_pinned(name):
    service = SERVICES[name]

    assert ("build" in service) != ("image" in service)
    if "image" in service:
        assert re.fullmatch(r"[a-z]+:\d+\.\d+\S*", service["image"])


@pytest.mark.parametrize("name", OURS)
def test_what_is_built_here_has_its_stage(name):
    build = OURS[name]["build"]

    assert build["dockerfile"] == "docker/Dockerfile"
    assert f"AS {build['target']}" in DOCKERFILE


def test_no_secret_is_written_in_it():
    text = (ROOT / "docker-compose.yml").read_text()
    values = re.findall(r"(?:PASSWORD|SECRET_KEY|AUTH): (.*)|://\w*:([^@]*)@", text)

    assert values
    assert all(re.fullmatch(r"\$\{\w+:\?set it in \.env\}", first or second) for first, second in values)


def test_only_workers_may_make_user_namespaces():
    assert {name for name, service in SERVICES.items() if "security_opt" in service} == {"worker-cpu", "worker-gpu"}
    assert not any(service.get("privileged") for service in SERVICES.values())


def test_only_the_proxy_is_reached_from_outside():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]


def test_everything_that_serves_says_whether_it_is_healthy():
    """Ours have it in the image."""
    assert DOCKERFILE.count("HEALTHCHECK") == 2
    assert [name for name in ("database", "broker") if "healthcheck" not in SERVICES[name]] == []


@pytest.mark.parametrize("name", SERVICES)
def test_what_it_waits_for_is_there(name):
    assert set(SERVICES[name].get("depends_on", {})) <= set(SERVICES)


def test_its_settings_exist():
    known = {f"WORKBENCH_{name.upper()}" for name in Settings.model_fields}

    assert set(COMPOSE["x-settings"]) <= known


def test_its_variables_are_in_the_example():
    example = (ROOT / ".env.example").read_text()
    variables = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))

    assert [name for name in sorted(variables) if f"#{name}=" not in example] == []


@pytest.mark.parametrize("source", re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE))
def test_what_the_image_copies_exists(source):
    assert all((ROOT / name).exists() for name in source.split())
