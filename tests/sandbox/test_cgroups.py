"""Where control groups are found, on trees of plain files, and what a group's limits are set to."""

from __future__ import annotations

import os

import pytest

from workers.sandbox import Limits, cgroups

V2 = "0::/system.slice/worker.service/worker\n"


@pytest.fixture
def proc(tmp_path):
    folder = tmp_path / "proc"
    folder.mkdir()

    def write(own, mounts):
        (folder / "cgroup").write_text(own)
        (folder / "mountinfo").write_text(mounts)
        return folder

    return write


def version_2_tree(tmp_path, controllers):
    root = tmp_path / "sys"
    service = root / "system.slice" / "worker.service"
    (service / "worker").mkdir(parents=True)
    (service / "cgroup.subtree_control").write_text(controllers)
    return root, service


def mount_line(point, kind, options):
    return f"31 23 0:28 / {point} rw,relatime - {kind} {kind} {options}\n"


def test_a_delegated_version_2_tree_is_used(tmp_path, proc, monkeypatch):
    root, service = version_2_tree(tmp_path, "memory pids")
    monkeypatch.setattr(cgroups, "_delegated", lambda folder: folder == service)
    monkeypatch.setattr(cgroups.Parents, "create", lambda self, limits: cgroups.Group(2, self.memory, self.pids))
    monkeypatch.setattr(cgroups.Group, "remove", lambda self: None)
    parents, detail = cgroups.find_parents(proc(V2, mount_line(root, "cgroup2", "rw")))
    assert (parents, detail) == (cgroups.Parents(2, service, service), "cgroup v2")


def test_a_tree_that_nobody_handed_over_is_left_alone(tmp_path, proc):
    root, _ = version_2_tree(tmp_path, "memory pids")
    parents, detail = cgroups.find_parents(proc(V2, mount_line(root, "cgroup2", "rw")))
    assert parents is None and "no control group" in detail


def test_the_limits_are_written(tmp_path):
    folder = tmp_path / "group"
    folder.mkdir()
    group = cgroups.Group(2, folder, folder)
    cgroups._set_limits(group, Limits(memory_mb=3, processes=5))
    assert (folder / "memory.max").read_text() == str(3 << 20)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text() == "8"


@pytest.mark.parametrize(
    ("version", "name", "text"),
    [
        (1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
        (2, "memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n"),
    ],
)
def test_kills_for_memory_are_counted(tmp_path, version, name, text):
    (tmp_path / name).write_text(text)
    assert cgroups.Group(version, tmp_path, tmp_path).oom_kills() == 2


def test_groups_of_dead_workers_are_swept(tmp_path):
    dead, alive = tmp_path / "workbench-999999999-0", tmp_path / f"workbench-{os.getpid()}-0"
    dead.mkdir()
    alive.mkdir()
    cgroups._sweep(cgroups.Parents(1, tmp_path, tmp_path))
    assert not dead.exists() and alive.exists()
