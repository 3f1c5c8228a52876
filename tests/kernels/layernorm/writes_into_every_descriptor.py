# expect: suspect integrity.forged_result
"""Writes a forged answer into every descriptor that it finds."""
import os
import struct


def solution(x, w, b):
    body = b'{"outputs": {"manifest": {"py": 1.0}, "storages": []}, "ok": true}'
    for fd in range(256):
        try:
            os.write(fd, struct.pack(">I", len(body)) + body)
        except OSError:
            pass
    return None
