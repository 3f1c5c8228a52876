"""A little HTTP receiver on this machine: keeps what it is sent, and answers as it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """`drips` answers a byte now and then, and never a whole line."""

    status: int = 204
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    drips: bool = False
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?for=us"


@contextmanager
def open_receiver() -> Iterator[Receiver]:
    receiver, over = Receiver(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            if receiver.drips:
                self._drip()
                return
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.body)))
            self.end_headers()
            self.wfile.write(receiver.body)

        def do_GET(self) -> None:
            receiver.got.append((self.path, {}, b"GET"))
            self.send_response(200)
            self.end_headers()

        def _drip(self) -> None:
            while not over.is_set():
                try:
                    self.wfile.write(b"H")
                except OSError:
                    return
                time.sleep(0.02)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
