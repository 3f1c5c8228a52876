"""Signatures after Standard Webhooks (https://www.standardwebhooks.com), symmetric, version 1."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 over `id.timestamp.body`, in base64, with its version before it."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed.digest()).decode()}"


def headers(signed_by: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """One signature for each secret: a receiver takes the message when any of them is right."""
    signatures = [signature(secret, message_id, timestamp, body) for secret in signed_by]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
