"""Runs the code of each message; `result` and `fds` that the code sets go into the answer."""

from __future__ import annotations

from workers.wire import frames


def serve(sock):
    while True:
        try:
            message, fds = frames.receive(sock)
        except frames.Closed:
            return
        names = {"fds_in": fds, "sock": sock, "__name__": "foreign"}
        try:
            exec(message["code"], names)  # noqa: S102 - being hostile is its purpose
            answer = {"result": names.get("result")}
        except Exception as error:  # noqa: BLE001 - the test reads it
            answer = {"result": f"{type(error).__name__}: {error}"}
        frames.send(sock, answer, names.get("fds_out", ()))
