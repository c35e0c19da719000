"""The database behind the library: one engine, writers in order, one way to migrate.

SQLite has one writer at a time. On PostgreSQL the writers of one user come one after another, in
whatever process or on whatever host they are.
"""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from chartpact.library.errors import LibraryError
from chartpact.library.schema import audit_events, tokens
from chartpact.problem import Problem

GONE = "account removed"  # the last event of a user whose account was removed
_LAST_EVENT = (
    sa.select(audit_events.c.event)
    .where(audit_events.c.user_id == sa.bindparam("user"))
    .order_by(audit_events.c.event_id.desc())
    .limit(1)
)

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

# PostgreSQL: no statement waits for ever, neither for a lock nor for a host that is gone.
_POSTGRES_SETTINGS = (
    f"SET lock_timeout = {BUSY_TIMEOUT_MS}",
    f"SET statement_timeout = {2 * BUSY_TIMEOUT_MS}",
    f"SET idle_in_transaction_session_timeout = {4 * BUSY_TIMEOUT_MS}",
)
_POSTGRES_CONNECTION = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
MOST_CONNECTIONS = 16  # of one process to PostgreSQL, beside those that look up tokens


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
    """One database with its schema: any number of readers, and one writer for a user at a time."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.embedded = engine.dialect.name == "sqlite"  # no other process is waited for
        self.writers = FairLock()
        if self.embedded:
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
        else:
            event.listen(engine, "connect", _prepare_postgres)

    def read(self) -> sa.Connection:
        """A connection to read from, as a context manager."""
        return self.engine.connect() if self.embedded else self.read_anew()

    def read_anew(self) -> sa.Connection:
        """A connection that may stay open: every statement on it sees the newest state."""
        return self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def detach(self) -> sa.Connection:
        """As `read_anew`, and its place in the pool is free again."""
        connection = self.read_anew()
        connection.detach()
        return connection

    @contextmanager
    def write(self, owner: str | None, *, removed: bool = False) -> Iterator[sa.Connection]:
        """A transaction that may write: all of it happens, or nothing.

        Transactions of one owner, a user as a rule, come one after another: what one has counted
        or found missing is so until it ends. None is for a change that depends on nothing read.
        A user whose account was removed writes nothing any more, but where `removed` says that
        the writer itself asks for the account.
        """
        with (
            self.writers if self.embedded else nullcontext(),
            self.engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            if owner is not None:
                serialise(connection, owner)
                if (
                    not removed
                    and connection.execute(_LAST_EVENT, {"user": owner}).scalar() == GONE
                ):
                    raise LibraryError(Problem("forbidden", "this account was removed"))
            yield connection

    def allow_loss(self, connection: sa.Connection) -> None:
        """Has a transaction not wait for the disk: a crash of the database may undo it."""
        if not self.embedded:
            connection.exec_driver_sql("SET LOCAL synchronous_commit = off")

    def migrate(self, revision: str = "head") -> None:
        """Brings the schema to a revision; processes that start together wait for each other."""
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", str(files("chartpact.library") / "migrations"))
        with self.write(None) as connection:
            if not self.embedded:  # another process may migrate for long
                connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            serialise(connection, "the schema")
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, revision)
            except CommandError as error:
                raise ValueError(
                    f"it was made by a newer chartpact ({error}): update, or name another"
                ) from None

    def check_writable(self) -> None:
        """Raises where the database can only be read, which SQLite notices only on a write.

        Raises also where the disk of PostgreSQL is full: an update in place needs none of it, so
        a megabyte is written to a temporary file.
        """
        with self.write("the schema") as connection:
            if not self.embedded:
                connection.exec_driver_sql("SET LOCAL work_mem = '64kB'")
                connection.exec_driver_sql("SELECT count(*) FROM generate_series(1, 80000)")
            connection.execute(sa.select(tokens.c.token_hash).limit(1))  # which every call asks
            connection.execute(sa.text("UPDATE alembic_version SET version_num = version_num"))

    def close(self) -> None:
        self.engine.dispose()


def serialise(connection: sa.Connection, owner: str) -> None:
    """Waits until no other transaction of that owner is under way; holds them off to the end."""
    if connection.dialect.name == "postgresql":
        lock = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:owner, 0))")
        connection.execute(lock, {"owner": owner})


def count_bytes(connection: sa.Connection, text: sa.Column[str]) -> sa.ColumnElement[int]:
    """How many bytes a text takes."""
    if connection.dialect.name == "sqlite":  # whose `length` of a text counts characters
        return sa.func.length(sa.cast(text, sa.LargeBinary))
    return sa.func.octet_length(text)


def open_database(url: str) -> Database:
    """The database at that URL, with the schema brought up to date.

    `sqlite:///PATH` creates the file and its folder; `postgresql+psycopg://…` needs the extra
    `chartpact[postgres]`.
    """
    try:
        address = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ValueError(
            "a database is named by a URL: write sqlite:/// and the path of a file, "
            "as in sqlite:///library.db"
        ) from None
    backend = address.get_backend_name()
    if backend == "sqlite":
        if not address.database or address.database == ":memory:":
            raise ValueError(f"{url!r} keeps nothing: name a file, as in sqlite:///library.db")
        _create_private(Path(address.database))
        database = Database(sa.create_engine(address, hide_parameters=True))
    elif backend == "postgresql":
        database = Database(_connect_postgres(address))
    else:
        raise ValueError(f"{backend} is not for this: name a sqlite:/// file, or PostgreSQL")
    try:
        database.migrate()
    except BaseException:
        database.close()
        raise
    return database


NETWORK_DISKS = ("9p", "afs", "beegfs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.s3fs",
                 "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4",
                 "ocfs2", "orangefs", "smb3", "smbfs", "virtiofs")  # fmt: skip


def find_network_disk(url: str, mounts: str | None = None) -> str | None:
    """The kind of network disk that a SQLite file is on; None where it is on a disk of this host.

    Processes on one SQLite file share memory, which hosts cannot: they would corrupt it.
    """
    address = sa.make_url(url)
    if address.get_backend_name() != "sqlite":
        return None
    file = Path(address.database or "").resolve()
    try:
        table = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    except OSError:
        return None  # another system than Linux
    inside = [
        (Path(where.replace("\\040", " ")), kind)
        for _, where, kind, *_ in (line.split(" ") for line in table.splitlines())
    ]
    _, kind = max(
        ((where, kind) for where, kind in inside if file.is_relative_to(where)),
        key=lambda mount: len(mount[0].parts),
        default=(None, ""),
    )
    return kind if kind in NETWORK_DISKS else None


def _connect_postgres(address: sa.URL) -> sa.Engine:
    arguments = {k: v for k, v in _POSTGRES_CONNECTION.items() if k not in address.query}
    try:
        return sa.create_engine(
            address.set(drivername="postgresql+psycopg"),
            connect_args=arguments,
            hide_parameters=True,
            isolation_level="READ COMMITTED",  # after a lock, what its last holder wrote is seen
            pool_pre_ping=True,  # a connection from before a restart is replaced, not used
            pool_size=MOST_CONNECTIONS // 2,
            max_overflow=MOST_CONNECTIONS // 2,
            pool_timeout=BUSY_TIMEOUT_MS / 1000,
        )
    except ModuleNotFoundError:
        raise ValueError(
            "PostgreSQL needs a driver that is not installed: install chartpact[postgres]"
        ) from None


def _create_private(file: Path) -> None:
    """Creates the file and its folder for their owner alone, where they are missing."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return  # with the permissions its owner gave it


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver opens no transaction of its own: `_begin` does
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except Exception:
        connection.close()  # nobody else would
        raise


def _prepare_postgres(connection: Any, _record: Any) -> None:
    before, connection.autocommit = connection.autocommit, True
    for setting in _POSTGRES_SETTINGS:
        connection.execute(setting)
    connection.autocommit = before


def _begin(connection: sa.Connection) -> None:
    # A transaction that will write takes the lock first: one that reads, then writes, can only
    # fail with "database is locked" when another writer came in between.
    options = connection.get_execution_options()
    if options.get("isolation_level") == "AUTOCOMMIT":
        return  # a transaction would hold on to the state that its first statement saw
    writes = options.get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
