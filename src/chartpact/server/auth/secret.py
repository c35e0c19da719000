"""Secrets that the server hands out: 256 random bits, of which only a digest is stored."""

import hashlib
import hmac
import secrets


def new_secret(prefix: str = "") -> str:
    """A token, code or session id that nobody can guess; the prefix says what it is to scanners."""
    return prefix + secrets.token_urlsafe(32)


def new_id() -> str:
    """The name of a row: it is no secret, and cannot be guessed all the same."""
    return secrets.token_hex(16)


def digest(secret: str) -> str:
    """The stored form of a secret. It has 256 random bits, so no salt or slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def sign(secret: str, purpose: str) -> str:
    """A value that only the holder of the secret can make, for one purpose (a CSRF token)."""
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def equal(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())
