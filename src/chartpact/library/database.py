"""The database behind the library: one engine, writers in order, one way to migrate."""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

# A writer waits this long for another to finish before it gives up.
BUSY_TIMEOUT_MS = 15_000

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # an acknowledged write survives a power cut, not only a crash
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
)


class FairLock:
    """A first-come, first-served lock for writers.

    SQLite lets a waiting writer poll, so that newcomers can overtake it for ever (starvation).
    """

    def __init__(self) -> None:
        self._mutex = Lock()
        self._taken = False
        self.waiting: deque[Lock] = deque()

    def __enter__(self) -> None:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            turn = Lock()
            turn.acquire()
            self.waiting.append(turn)
        turn.acquire()

    def __exit__(self, *_: object) -> None:
        with self._mutex:
            if self.waiting:
                self.waiting.popleft().release()  # the lock stays taken, by the next
            else:
                self._taken = False


class Database:
    """One database with its schema: any number of readers, and one writer at a time."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.writers = FairLock()
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)

    def read(self) -> sa.Connection:
        """A connection to read from, as a context manager."""
        return self.engine.connect()

    def read_anew(self) -> sa.Connection:
        """A connection that may stay open: every statement on it sees the newest state."""
        return self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction that may write: all of it happens, or nothing."""
        with (
            self.writers,
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def migrate(self, revision: str = "head") -> None:
        """Brings the schema to a revision; processes that start together wait for each other."""
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", str(files("chartpact.library") / "migrations"))
        with self.write() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(5021107)"))
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, revision)
            except CommandError as error:
                raise ValueError(
                    f"it was made by a newer chartpact ({error}): update, or name another"
                ) from None

    def check_writable(self) -> None:
        """Raises where the database can only be read, which SQLite notices only on a write."""
        with self.write() as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = version_num"))

    def close(self) -> None:
        self.engine.dispose()


def open_database(url: str) -> Database:
    """The database at that URL, with the schema brought up to date.

    `sqlite:///PATH` creates the file and its folder; `postgresql+psycopg://…` needs the
    driver `psycopg` beside the package.
    """
    try:
        address = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ValueError(
            "a database is named by a URL: write sqlite:/// and the path of a file, "
            "as in sqlite:///library.db"
        ) from None
    if address.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(f"{address.get_backend_name()} is not for this: name a sqlite:/// file")
    if address.get_backend_name() == "sqlite":
        if not address.database or address.database == ":memory:":
            raise ValueError(f"{url!r} keeps nothing: name a file, as in sqlite:///library.db")
        _create_private(Path(address.database))
    database = Database(sa.create_engine(address))
    database.migrate()
    return database


def _create_private(file: Path) -> None:
    """Creates the file and its folder for their owner alone, where they are missing."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return  # with the permissions its owner gave it


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver opens no transaction of its own: `_begin` does
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _begin(connection: sa.Connection) -> None:
    # A transaction that will write takes the lock first: one that reads, then writes, can only
    # fail with "database is locked" when another writer came in between.
    options = connection.get_execution_options()
    if options.get("isolation_level") == "AUTOCOMMIT":
        return  # a transaction would hold on to the state that its first statement saw
    writes = options.get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
