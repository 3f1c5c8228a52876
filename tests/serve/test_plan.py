import socket
import stat
import sys
from pathlib import Path

import pytest

from app.config import Settings
from app.supervisor import broker, plan, web
from app.supervisor.errors import AddressInUse, NothingToRunKernelsWith
from app.supervisor.plan import Address
from app.supervisor.supervisor import Supervisor


def make_settings(tmp_path, **overrides):
    return Settings(_env_file=None, **{"data_dir": tmp_path, "runtimes": {"torch": Path(sys.executable)}, **overrides})


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("WORKBENCH_BROKER_URL", "WORKBENCH_DATA_DIR", "WORKBENCH_RUNTIMES"):
        monkeypatch.delenv(name, raising=False)


class TestAddress:
    @pytest.mark.parametrize(
        ("host", "url"),
        [("127.0.0.1", "http://127.0.0.1:8000"), ("0.0.0.0", "http://127.0.0.1:8000"), ("::1", "http://[::1]:8000")],
    )
    def test_its_url_can_be_opened(self, host, url):
        assert Address(host, 8000).url == url

    def test_a_port_in_use_is_one_sentence(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]

            with pytest.raises(
                AddressInUse, match=f"Port {port} on 127.0.0.1 is in use; .* choose another with --port"
            ):
                plan.require_free(Address("127.0.0.1", port))

    def test_a_foreign_address_is_refused_in_words(self):
        with pytest.raises(AddressInUse, match=r"Cannot listen on 192\.0\.2\.1:8000"):
            plan.require_free(Address("192.0.2.1", 8000))


class TestWeb:
    def test_there_are_as_many_processes_as_asked_for_and_their_threads_are_shared_out(self, tmp_path):
        settings = make_settings(tmp_path, web_processes=3, web_threads=40)
        children = plan.web(settings, Address("::1", 8000), {"A": "b"}, is_behind_proxy=True)

        assert [child.name for child in children] == ["web-1", "web-2", "web-3"]
        assert all(child.command[-3:] == ("::1", "8000", "--behind-proxy") for child in children)
        assert settings.threads_per_process == 14

    def test_by_default_there_are_two_where_there_are_two_cores(self, tmp_path, monkeypatch):
        for cores, processes in ((1, 1), (2, 2), (64, 2)):
            monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
            assert make_settings(tmp_path).web_processes == processes

    def test_they_share_an_address_that_is_in_use_for_everybody_else(self):
        with web.shared_socket("127.0.0.1", 0) as first:
            port = first.getsockname()[1]
            with web.shared_socket("127.0.0.1", port) as second:
                first.listen()
                second.listen()

                with pytest.raises(AddressInUse):
                    plan.require_free(Address("127.0.0.1", port))


class TestRuntimes:
    def test_a_missing_one_is_named(self, tmp_path):
        settings = make_settings(tmp_path, runtimes={"jax": tmp_path / "nowhere"})

        with pytest.raises(NothingToRunKernelsWith, match=r"The jax runtime is missing: .*make setup"):
            plan.require_runtimes(settings)

    def test_one_is_enough(self, tmp_path):
        plan.require_runtimes(make_settings(tmp_path))


class TestDataFolder:
    def test_two_supervisors_cannot_share_it(self, tmp_path):
        settings = make_settings(tmp_path)

        with plan.lock_data_folder(settings), pytest.raises(AddressInUse, match="Another `workbench serve` "):
            plan.lock_data_folder(settings)

    def test_it_is_free_again_afterwards(self, tmp_path):
        plan.lock_data_folder(make_settings(tmp_path)).close()
        plan.lock_data_folder(make_settings(tmp_path)).close()


class TestBroker:
    @pytest.mark.parametrize("deep", [False, True], ids=["socket", "port"])
    def test_the_embedded_one_answers(self, tmp_path, deep):
        """On a socket; on a port with a password where the folder is too deep for a socket's path."""
        settings = make_settings(tmp_path / ("d" * 120) if deep else tmp_path)
        planned = broker.plan(settings)
        supervisor = Supervisor()

        try:
            supervisor.start(planned.spec)
            assert supervisor.watch(lambda: broker.is_answering(planned.url), seconds=15)
        finally:
            supervisor.stop(())

        assert planned.url.startswith("redis://:" if deep else "redis+socket://")
        assert not broker.is_answering(planned.url)

    def test_nobody_else_can_reach_the_socket(self, tmp_path):
        broker.plan(make_settings(tmp_path))

        assert stat.S_IMODE((tmp_path / "broker").stat().st_mode) == 0o700

    def test_the_password_is_in_a_file_of_ours_and_on_no_command_line(self, tmp_path):
        planned = broker.plan(make_settings(tmp_path / ("d" * 120)))
        password = planned.url.split(":")[2].split("@")[0]

        assert not any(password in argument for argument in planned.spec.command)
        assert stat.S_IMODE(Path(planned.spec.command[1]).stat().st_mode) == 0o600

    def test_another_broker_needs_no_child(self, tmp_path):
        assert broker.plan(make_settings(tmp_path, broker_url="redis://elsewhere:6379/0")).spec is None
