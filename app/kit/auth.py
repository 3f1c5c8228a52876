"""Primitives of letting people in: password hashes, random tokens, signed cookies, CSRF tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import lru_cache

from itsdangerous import BadSignature, Signer
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

TOKEN_PREFIX = "wbt_"  # noqa: S105 - what every token begins with, so that a leaked one can be found
_passwords = PasswordHash((Argon2Hasher(),))


def hash_password(password: str) -> str:
    return _passwords.hash(password)


def verify_password(password: str, password_hash: str | None) -> bool:
    """Takes as long for a person who does not exist, so that timing tells nobody who does."""
    known = password_hash is not None
    matches = _passwords.verify(password, password_hash or _nobodys_hash())
    return matches and known


@lru_cache(maxsize=1)
def _nobodys_hash() -> str:
    return hash_password(secrets.token_hex(16))


def new_token(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Tokens are long and random, so a plain hash is enough to keep them by."""
    return hashlib.sha256(token.encode()).hexdigest()


def sign(value: str, key: str, purpose: str) -> str:
    return Signer(key, salt=f"workbench.{purpose}").sign(value).decode()


def unsign(signed: str | None, key: str, purpose: str) -> str | None:
    """The value that was signed, or None where the signature is not ours."""
    try:
        return Signer(key, salt=f"workbench.{purpose}").unsign(signed or "").decode()
    except (BadSignature, UnicodeDecodeError):
        return None


def csrf_token(visitor: str, key: str) -> str:
    """Another one on every page: what a page repeats could be guessed from how well it compresses (BREACH)."""
    return _csrf_token(secrets.token_hex(8), visitor, key)


def csrf_matches(given: str, visitor: str, key: str) -> bool:
    salt = given.partition(".")[0]
    return hmac.compare_digest(given.encode(), _csrf_token(salt, visitor, key).encode())


def _csrf_token(salt: str, visitor: str, key: str) -> str:
    return f"{salt}." + hmac.new(key.encode(), f"csrf:{salt}:{visitor}".encode(), hashlib.sha256).hexdigest()
