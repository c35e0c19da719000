"""Identities: how a server without accounts finds out who is calling."""

import hashlib
import os
import secrets
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chartpact.library.local import LOCAL_USER

if TYPE_CHECKING:
    from starlette.datastructures import Headers

Identify = Callable[["Headers"], str | None]  # the user's name, or None

LEAST_LETTERS = 16  # of a token


def everybody_is_local(_: "Headers") -> str:
    """A server on loopback without accounts has one user."""
    return LOCAL_USER


def by_token(users: Mapping[str, str]) -> Identify:
    """Bearer tokens handed out by the operator: token → user."""
    known = {_digest(token): user for token, user in users.items()}

    def identify(headers: "Headers") -> str | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # Looking up a digest takes the same time for any token: there is no timing attack.
        return known.get(_digest(token)) if scheme.lower() == "bearer" else None

    return identify


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def local_token(file: Path) -> str:
    """The token of the local user, made on the first start and readable by that user alone."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as fresh:
            fresh.write(secrets.token_urlsafe(32) + "\n")
    except FileExistsError:
        pass  # of an earlier start
    token = file.read_text().strip()
    if len(token) < LEAST_LETTERS:
        raise ValueError(f"{file} holds no token: remove it, and the next start makes a new one")
    return token


def from_environment(environ: Mapping[str, str]) -> Identify | None:
    """The identity the environment names, if any.

    CHARTPACT_TOKENS is `user=token`, separated by commas; CHARTPACT_IDENTITY is
    `module:function`, a function from request headers to a user's name or None.
    """
    if named := environ.get("CHARTPACT_IDENTITY"):
        module, colon, function = named.partition(":")
        if not colon:
            raise ValueError(f"CHARTPACT_IDENTITY: {named!r} is not MODULE:FUNCTION")
        try:
            chosen: Identify = getattr(import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"CHARTPACT_IDENTITY: {named!r}: {error}") from None
        if not callable(chosen):
            raise ValueError(f"CHARTPACT_IDENTITY: {named!r} is no function")
        return chosen
    if given := environ.get("CHARTPACT_TOKENS"):
        entries = (entry.partition("=") for entry in given.split(",") if entry.strip())
        pairs = [(user.strip(), token.strip()) for user, _, token in entries]
        if any(not user or len(token) < LEAST_LETTERS for user, token in pairs):
            raise ValueError(
                "CHARTPACT_TOKENS: write user=token, with tokens of 16 or more letters"
            )
        users: dict[str, str] = {}
        for user, token in pairs:
            if users.setdefault(token, user) != user:
                raise ValueError(f"CHARTPACT_TOKENS: {users[token]} and {user} have the same token")
        return by_token(users)
    return None
