"""The one-time link by which the local user signs in for the first time."""

import time
from collections.abc import Callable

import sqlalchemy as sa

from chartpact.library.database import Database
from chartpact.library.schema import server_secrets
from chartpact.server.auth.secret import digest, new_secret

LASTS_S = 600.0
NAME = "sign-in link"

_ROW = server_secrets.c


class SignInLink:
    """One key at a time, for all processes of a server; it is good for ten minutes, and once."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def make(self) -> str:
        key = new_secret("cpl_")
        row = {
            "name": NAME,
            "value": digest(key),
            "expires_at": int((self._clock() + LASTS_S) * 1000),
        }
        with self._database.write(NAME) as connection:
            connection.execute(sa.delete(server_secrets).where(_ROW.name == NAME))
            connection.execute(sa.insert(server_secrets).values(row))
        return key

    def use(self, key: str) -> bool:
        """Whether it is the key, and in time; it is good no more afterwards."""
        good = (
            _ROW.name == NAME,
            _ROW.value == digest(key),
            _ROW.expires_at > int(self._clock() * 1000),
        )
        with self._database.write(NAME) as connection:
            return connection.execute(sa.delete(server_secrets).where(*good)).rowcount == 1


def share_key(database: Database, name: str) -> str:
    """A secret of the server, made by whichever process asks first."""
    query = sa.select(_ROW.value).where(_ROW.name == name)
    with database.write(name) as connection:
        value = connection.execute(query).scalar()
        if value is None:
            value = new_secret()
            connection.execute(sa.insert(server_secrets).values(name=name, value=value))
        return value
