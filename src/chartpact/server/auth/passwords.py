"""Passwords: argon2id, off the event loop, with equal work for users who do not exist."""

import asyncio
import unicodedata
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from chartpact.problem import Failure, Problem
from chartpact.server.auth.common_passwords import is_common

LEAST_LETTERS = 10
MOST_LETTERS = 512
AT_ONCE = 2  # hashes under way; each takes 19 MiB and a core for some 30 ms

# OWASP's parameters: a flood of sign-ins cannot take the server's memory.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
# A dummy hash with the costs of a real one, so that an unknown user takes as long as a known one.
_NOBODYS = (
    f"$argon2id$v=19$m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    f"${'A' * 22}${'A' * 43}"
)


class BadPassword(Failure):
    """A new password that is refused."""


def hash_password(password: str, name: str = "") -> str:
    """The hash to store of a new password of an account; raises BadPassword."""
    if not LEAST_LETTERS <= len(password) <= MOST_LETTERS:
        message = f"a password has {LEAST_LETTERS} to {MOST_LETTERS} letters"
        raise BadPassword(Problem("value", message))
    if is_common(password, name):
        message = "this password is among the first that anybody would try"
        raise BadPassword(
            Problem("value", message, "take several words that do not belong together")
        )
    return _HASHER.hash(_normalize(password))


def verify(stored: str | None, password: str) -> bool:
    """Whether it is the password; without a stored one the same work is done, for nothing."""
    try:
        _HASHER.verify(stored or _NOBODYS, _normalize(password[:MOST_LETTERS]))
    except (Argon2Error, InvalidHashError):
        return False
    return stored is not None


def _normalize(password: str) -> str:
    # The same letters may be typed as different code points on another machine.
    return unicodedata.normalize("NFKC", password)


class Hashing:
    """A few threads for hashing, so that a flood of sign-ins waits for itself alone."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, "argon2")

    async def verify(self, stored: str | None, password: str) -> bool:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, verify, stored, password)

    async def hash(self, password: str, name: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, hash_password, password, name
        )

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
