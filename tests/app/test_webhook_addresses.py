"""Where webhooks may go: nowhere inside our own network, however the address is written."""

from __future__ import annotations

import socket

import pytest

from app.errors import Invalid
from app.webhooks import addresses, sending
from app.webhooks.addresses import AddressRefused
from tests.conftest import make_settings
from tests.post import Post
from tests.receiver import open_receiver


@pytest.fixture
def receiver():
    with open_receiver() as receiver:
        yield receiver


@pytest.fixture
def post(database, settings, sender, receiver):
    return Post(database, settings, sender, receiver)


class TestAddress:
    @pytest.mark.parametrize(
        "address",
        [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
            "224.0.0.1", "255.255.255.255", "240.0.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1",
            "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a00:1::",
            "2001:0:0:0:0:0:80ff:fffe", "fec0::1",
        ],
    )  # fmt: skip
    def test_what_is_not_everybodys_is_private(self, address):
        assert not addresses.is_public(address)

    @pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:4700:4700::1111"])
    def test_what_is_everybodys_is_public(self, address):
        assert addresses.is_public(address)

    @pytest.mark.parametrize(
        "url",
        [
            "ftp://example.com/", "file:///etc/passwd", "example.com", "http://", "http://me:word@example.com/",
            "http://example.com/#here", "http://exa mple.com/", "http://example.com/\r\nX: 1", "http://example.com:0/",
            "http://example.com:99999/", "http://[::1", "http://127.0.0.1/", "http://[::ffff:10.0.0.1]/",
            "http://example.com/" + "a" * 2000, "http://exämple.com/",
        ],
    )  # fmt: skip
    def test_these_are_refused_when_they_are_typed(self, url):
        with pytest.raises(Invalid):
            addresses.check(url, allow_private=False)

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1:9/", "http://localhost:9/", "http://0x7f.1:9/", "http://2130706433:9/"]
    )
    def test_private_ones_are_refused_when_something_is_sent_however_they_are_written(self, url):
        with pytest.raises(AddressRefused, match="private"):
            addresses.resolve(url, allow_private=False)

    def test_one_private_address_among_public_ones_is_enough(self, monkeypatch):
        both = [(2, 1, 6, "", ("8.8.8.8", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
        with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
            addresses.resolve("http://two.example/", allow_private=False)

    def test_the_connection_goes_to_the_address_that_was_checked(self, receiver):
        """Whatever the name says a moment later."""
        target = addresses.Target(False, "moved.example", receiver.port, "/hook", "127.0.0.1")
        answer = sending.post(target, {}, b"{}", seconds=5)
        assert answer.is_ok and receiver.got[0][1]["host"] == f"moved.example:{receiver.port}"

    def test_by_default_nothing_goes_to_this_machine(self, post, settings):
        post.endpoint()
        post.settings = make_settings(settings.data_dir)
        post.tell()
        post.work()
        assert post.receiver.got == [] and "private address" in post.messages()[0].last_answer

    def test_a_certificate_that_is_for_nobody_is_refused(self, receiver):
        """The receiver speaks no TLS at all; nothing is sent in the clear in its place."""
        target = addresses.Target(True, "127.0.0.1", receiver.port, "/hook", "127.0.0.1")
        answer = sending.post(target, {}, b"{}", seconds=5)
        assert answer.status is None and receiver.got == []
