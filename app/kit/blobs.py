"""Blobs: files kept by the SHA-256 of their bytes, so that they never change and never repeat."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from app.errors import Gone


class BlobStore:
    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        return self.root / sha256[:2] / sha256

    def put(self, data: bytes) -> str:
        """Keep `data` and return its hash; writing the same bytes again costs nothing."""
        sha256 = hashlib.sha256(data).hexdigest()
        if not self.path(sha256).exists():
            self.put_stream([data])
        return sha256

    def put_stream(self, chunks: Iterable[bytes]) -> str:
        """Keep what `chunks` yields: written aside first and renamed, so that no reader sees half of it."""
        self.root.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        handle, draft = tempfile.mkstemp(dir=self.root, prefix="draft-")
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in chunks:
                    digest.update(chunk)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            target = self.path(digest.hexdigest())
            target.parent.mkdir(exist_ok=True)
            Path(draft).replace(target)
        finally:
            Path(draft).unlink(missing_ok=True)
        return digest.hexdigest()

    def get(self, sha256: str) -> bytes:
        try:
            return self.path(sha256).read_bytes()
        except FileNotFoundError:
            raise Gone(f"the stored file {sha256[:12]}… is missing from the blob store") from None
