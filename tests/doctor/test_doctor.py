import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.config import REPOSITORY, Settings
from app.doctor import host, runtimes, services, table
from app.doctor.result import Result, answer


def make_settings(tmp_path, **overrides):
    return Settings(_env_file=None, **{"data_dir": tmp_path, "runtimes": {}, **overrides})


def result_named(results, name):
    return next(result for result in results if result.name == name)


class TestAnswer:
    def test_the_first_line_when_it_works(self):
        assert answer((sys.executable, "-c", "print('one'); print('two')")) == (True, "one")

    def test_the_last_line_when_it_fails(self):
        assert answer((sys.executable, "-c", "raise SystemExit('why')")) == (False, "why")

    def test_what_is_not_there(self):
        assert answer(("no-such-tool",)) == (False, "not found")


class TestRuntimes:
    @pytest.mark.parametrize(
        ("version", "pin", "fits"),
        [
            ("2.13.0", "2.13.0", True),
            ("2.13.0+cpu", "2.13.0", True),
            ("2.13.1", "2.13.0", False),
            ("0.0.42.1", "0.0.42.*", True),
            ("0.0.42", "0.0.42.*", True),
            ("0.0.421", "0.0.42.*", False),
            (None, "2.13.0", False),
        ],
    )
    def test_a_version_fits_its_pin_as_it_does_for_pip(self, version, pin, fits):
        assert runtimes._fits(version, pin) is fits

    @pytest.mark.parametrize("name", ["torch", "jax", "cuda"])
    def test_every_line_of_the_lists_is_a_pin(self, name):
        assert all(runtimes.pins(name).values())

    def test_a_missing_runtime_says_how_to_get_it(self, tmp_path):
        torch = result_named(runtimes.runtimes(make_settings(tmp_path, runtimes={"jax": tmp_path})), "torch")

        assert not torch.works
        assert torch.required
        assert torch.how == 'WORKBENCH_RUNTIMES="torch" make setup'

    def test_a_foreign_interpreter_without_the_packages_is_named_by_package(self, tmp_path):
        settings = make_settings(tmp_path, runtimes={"torch": Path(sys.executable)})

        torch = result_named(runtimes.runtimes(settings), "torch")

        assert not torch.works
        assert "torch missing (pinned 2.13.0)" in torch.detail

    @pytest.mark.slow
    def test_the_installed_runtime_runs_a_kernel(self, tmp_path):
        python = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
        if not python.exists():
            pytest.skip("the torch runtime is not installed here")

        found = result_named(runtimes.runtimes(make_settings(tmp_path, runtimes={"torch": python})), "torch, triton")

        assert found.works, found.detail


class TestRunners:
    def test_what_cannot_be_run_is_said(self):
        names = [result.name for result in runtimes.without_runner(("torch", "triton"))]

        assert names == ["cuda", "hip", "pallas", "nki", "stablehlo", "ptx", "ttir"]


class TestServices:
    def test_a_database_that_does_not_exist_yet_is_not_made_by_looking(self, tmp_path):
        database = result_named(services.services(make_settings(tmp_path)), "database")

        assert database.works
        assert list(tmp_path.iterdir()) == []

    def test_passwords_are_not_shown(self, tmp_path):
        settings = make_settings(
            tmp_path,
            database_url="postgresql://kernels:secret@127.0.0.1:1/kernels",
            broker_url="redis://:secret@127.0.0.1:1/0",
        )

        found = list(services.services(settings))

        assert not any(result.works for result in found if result.required)
        assert "secret" not in table.as_json(found)


class TestTable:
    def test_what_is_required_decides(self):
        optional = Result("devices", "TPU", works=False, detail="none")
        needed = Result("isolation", "sandbox self-test", works=False, detail="refused", required=True)

        assert table.is_usable([optional])
        assert not table.is_usable([optional, needed])

    def test_the_sandbox_self_test_is_required(self):
        findings = [("bubblewrap", True, "0.11", ""), ("sandbox self-test", False, "no namespaces", "sysctl")]

        assert [result.required for result in host.isolation(findings)] == [False, True]

    def test_missing_lines_say_how(self):
        text = table.as_text(Result("targets", "cuda (nvcc)", works=False, detail="not installed", how="make setup"))

        assert text.splitlines()[1].strip() == "make setup"


class TestSchema:
    def test_the_report_has_one(self):
        printed = CliRunner().invoke(cli, ["schema", "report"])

        assert printed.exit_code == 0
        assert "verdict" in json.loads(printed.output)["properties"]

    def test_an_unknown_document_is_bad_usage(self):
        assert CliRunner().invoke(cli, ["schema", "novel"]).exit_code == 2
