"""Seeds of one evaluation: everything random comes from one 256-bit secret."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
SECRET_BYTES = 32


@dataclass
class Seeds:
    """Derives `HMAC(secret, workload|family|n) mod 2**31` and remembers what was derived."""

    secret: bytes
    drawn: dict[str, int] = field(default_factory=dict)

    @classmethod
    def fresh(cls, secret: bytes | None = None) -> Seeds:
        """Seeds from `secret`, or from a new one; raises `ValueError` for one of another length."""
        if secret is not None and len(secret) != SECRET_BYTES:
            raise ValueError(f"a secret has {SECRET_BYTES} bytes, not {len(secret)}")
        return cls(secret or secrets.token_bytes(SECRET_BYTES))

    def of(self, workload: str, family: str, n: int) -> int:
        label = f"{workload}|{family}|{n}"
        digest = hmac.new(self.secret, label.encode(), hashlib.sha256).digest()
        self.drawn[label] = int.from_bytes(digest, "big") % 2**31
        return self.drawn[label]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """In an order that depends on the secret: no call can tell by its number what it is for."""
        order = np.random.default_rng(self.of("", "order", 0)).permutation(len(items))
        return [items[n] for n in order]
