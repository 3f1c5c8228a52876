"""Where a message may go: http or https, and no address of our own network unless a setting allows it.

A name is looked up once for each attempt, every address that it has is checked, and the connection goes to the very
address that was checked: a name that points elsewhere a moment later gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from app.errors import Invalid

URL_LENGTH_MAX = 2000
_PORTS = {"http": 80, "https": 443}


class AddressRefused(Exception):
    """Nothing is sent there; the sentence says why."""


@dataclass(frozen=True)
class Target:
    """`host` is what the certificate and the Host header name, `address` where the connection goes."""

    is_https: bool
    host: str
    port: int
    path: str
    address: str

    @property
    def host_header(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _PORTS["https" if self.is_https else "http"] else f"{name}:{self.port}"


def check(url: str, *, allow_private: bool) -> str:
    """The address as it is kept, or `Invalid`; a name is looked up only when something is sent."""
    url = url.strip()
    parts = _parts(url)
    if not allow_private and _is_literal(parts.hostname or "") and not is_public(parts.hostname or ""):
        raise Invalid(
            f"{parts.hostname} is a private address",
            what_to_do="Name a public one; or an operator allows them with WORKBENCH_WEBHOOK_PRIVATE_ADDRESSES.",
        )
    return url


def resolve(url: str, *, allow_private: bool) -> Target:
    """Look the name up now; refused when any of its addresses is not public."""
    parts = _parts(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise AddressRefused(f"the name {host} is not known: {error}") from None
    hidden = [address for address in found if not is_public(address)]
    if hidden and not allow_private:
        raise AddressRefused(f"{host} is the private address {hidden[0]}; nothing was sent")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme == "https", host, port, path, found[0])


def is_public(address: str) -> bool:
    """Reachable by everybody on the internet, and not a way back in through an embedded address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.sixtofour is not None and not is_public(str(ip.sixtofour)):
            return False
        if ip.is_site_local or ip.teredo is not None:
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= URL_LENGTH_MAX
    if not is_whole or not is_plain:
        raise Invalid("this is no http or https address", what_to_do="Write it like https://example.com/hook.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Invalid(
            "the address holds a login or a fragment",
            what_to_do="Leave it out; messages are signed, so that a receiver knows them.",
        )
    return parts


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
