"""The package's one door: self-test, refusal, and the operator's own risk."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.sandbox import (
    Ended,
    Limits,
    Program,
    Sandboxes,
    SandboxUnavailable,
    doctor,
    isolation,
    sandboxes,
    selftest,
)

PROBE = Path(__file__).with_name("probe")


@pytest.fixture
def program(runtime):
    return Program(runtime, "probe", {"/probe": PROBE}, code_folder="/probe")


@pytest.fixture
def no_sandbox(monkeypatch):
    def find():
        raise SandboxUnavailable("bubblewrap is missing")

    monkeypatch.setattr(isolation, "find", find)


@pytest.mark.parametrize("warm", [False, True])
def test_sessions_start_after_the_self_test(walls, runtime, program, run, warm):
    with Sandboxes(runtimes={"plain": runtime}, warm=warm) as door:
        door.prepare("plain")
        with door.start(program, Limits()) as session:
            assert session.limits_in_force["start"] == ("warm" if warm else "cold")
            assert run(session, "result = 1") == 1


def test_an_unknown_runtime_cannot_be_prepared(walls, runtime):
    with pytest.raises(KeyError):
        Sandboxes(runtimes={"plain": runtime}, warm=True).prepare("other")


def test_the_self_test_tries_six_escapes_and_all_are_contained(walls):
    told = selftest.cold_escapes(walls)
    assert len(told) == 6 and set(told.values()) == {""}


def test_an_escape_is_named(monkeypatch):
    assert "network (reached)" in selftest.failure(lambda: {"network": "reached", "fork bomb": ""})
    assert "answered nothing" in selftest.failure(dict)


def test_escapes_are_never_tried_without_a_wall():
    with pytest.raises(ValueError, match="inside a wall"):
        selftest.cold_escapes(isolation.UNSANDBOXED)


def test_without_a_sandbox_nothing_runs(no_sandbox, runtime, program):
    with pytest.raises(SandboxUnavailable, match="missing"):
        Sandboxes(runtimes={"plain": runtime}, warm=False).start(program, Limits())


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.usefixtures("no_sandbox")
def test_the_operator_may_run_without_and_it_is_said(runtime, program, run, warm, monkeypatch):
    monkeypatch.setenv("WORKBENCH_SECRET", "x")
    door = Sandboxes(runtimes={"plain": runtime}, warm=warm, allow_unsandboxed=True)
    with door.start(program, Limits(memory_mb=512, cpu_seconds=1)) as session:
        assert session.limits_in_force["isolation"] == "NONE: operator allowed unsandboxed runs"
        assert session.folders["/probe"] == str(PROBE)
        assert run(session, "import os; result = 'WORKBENCH_SECRET' in os.environ") is False
        assert "MemoryError" in run(session, "bytearray(1 << 30)")
        with pytest.raises(Ended) as ended:
            session.call({"code": "while True: pass"}, timeout_s=15)
        assert ended.value.reason == "time"


def test_the_doctor_tells_each_part(walls):
    lines = doctor.doctor_lines()
    assert [line.name for line in lines][-1] == "sandbox self-test"
    assert all(line.works or line.remedy for line in lines)


def test_the_doctor_tells_what_to_install(no_sandbox):
    lines = {line.name: line for line in doctor.doctor_lines()}
    assert not lines["bubblewrap"].works and "apt install bubblewrap" in lines["bubblewrap"].remedy
    assert not lines["sandbox self-test"].works


def test_a_switched_off_kernel_is_recognised(tmp_path, monkeypatch):
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "apparmor_restrict_unprivileged_userns").write_text("1\n")
    monkeypatch.setattr(doctor, "_PROC_SYS", tmp_path)
    assert "AppArmor" in doctor._namespace_remedy()


def test_a_failed_self_test_refuses(monkeypatch, walls, runtime, program):
    def refuse(found):
        raise SandboxUnavailable("the sandbox does not contain: network (reached)")

    monkeypatch.setattr(sandboxes.selftest, "ensure", refuse)
    with pytest.raises(SandboxUnavailable, match="network"):
        Sandboxes(runtimes={"plain": runtime}, warm=False).start(program, Limits())
