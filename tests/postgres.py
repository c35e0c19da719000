"""A PostgreSQL server of the tests' own, in a temporary directory and on a unix socket.

The programs come from the system (`.ci/run` installs them). Every process of a test run that asks
for a database starts one server.
"""

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import cache, cached_property
from itertools import count
from pathlib import Path

import psycopg
import pytest

from chartpact.library.database import open_database
from chartpact.library.schema import metadata

# The server's tests run on SQLite, and modules marked `both_databases` on PostgreSQL too. Where
# the environment names a database, all of them run on that one alone.
CHOSEN = os.environ.get("CHARTPACT_TEST_DATABASE")
KIND = CHOSEN or "sqlite"
BOTH = ("sqlite", "postgresql")
PORT = 5432  # the name of the socket's file alone: each server has a folder of its own
QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def find_programs() -> Path | None:
    """The folder of initdb and postgres; Debian has it outside of PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((each for each in folders if (each / "postgres").exists()), None)


class Postgres:
    """A server that can be killed and started again."""

    def __init__(self, programs: Path, settings: Mapping[str, str] = QUICK) -> None:
        self._programs = programs
        self._settings = settings
        self._folder = tempfile.mkdtemp(prefix="cp-pg-")
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None
        # PostgreSQL refuses to run as root.
        self._user = "nobody" if os.getuid() == 0 else None
        if self._user:
            account = pwd.getpwnam(self._user)
            os.chown(self._folder, account.pw_uid, account.pw_gid)
        options = ["--auth=trust", "--username=chartpact", "--encoding=UTF8", "--no-sync",
                   "--locale=C.UTF-8", "--no-instructions"]  # fmt: skip
        self._run("initdb", *options, "-D", f"{self._folder}/data")
        self.start()

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [str(self._programs / program), *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        command = self._command(program, *arguments)
        done = subprocess.run(command, check=False, user=self._user, cwd="/", capture_output=True)
        assert done.returncode == 0, done.stderr.decode()

    def start(self) -> None:
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        with Path(self._folder, "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(
                    "postgres", "-D", f"{self._folder}/data", "-k", self._folder, "-p", str(PORT),
                    "-clisten_addresses=", "-cmax_connections=200", "-cshared_buffers=32MB",
                    *settings,
                ),
                user=self._user,
                cwd="/",
                stdout=log,
                stderr=log,
            )  # fmt: skip
        ends = time.monotonic() + 120
        while True:
            try:
                psycopg.connect(self._conninfo("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None and time.monotonic() < ends, self.log
                time.sleep(0.05)

    @property
    def log(self) -> str:
        return Path(self._folder, "log").read_text()

    def kill(self) -> None:
        """Ends it at once, as a crash does; its own children notice and end too."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends it in order, and every connection with it."""
        self._end(signal.SIGINT)

    def restart(self) -> None:
        self.stop()
        self.start()

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
            self._process = None

    def close(self) -> None:
        self._end(signal.SIGQUIT)  # nothing of it is needed again
        shutil.rmtree(self._folder, ignore_errors=True)

    def _conninfo(self, database: str) -> str:
        return f"host={self._folder} port={PORT} user=chartpact dbname={database}"

    def _url(self, database: str) -> str:
        return f"postgresql+psycopg://chartpact@/{database}?host={self._folder}&port={PORT}"

    def execute(self, statement: str) -> None:
        with psycopg.connect(self._conninfo("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def create_empty(self) -> str:
        """The URL of a new database without a schema."""
        name = f"empty{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self._url(name)

    def create(self) -> str:
        """The URL of a new database with the present schema."""
        name = f"it{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {self._migrated}")
        return self._url(name)

    def reuse(self) -> str:
        """The URL of a database that all such tests share, emptied: 5 ms, where a copy takes 200.

        A test that kills a process has a copy: what the process sent may still be carried out.
        """
        url, conninfo = self._shared
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("; ".join(f"DELETE FROM {each}" for each in metadata.tables))
        return url

    @cached_property
    def _shared(self) -> tuple[str, str]:
        self.execute(f"CREATE DATABASE shared TEMPLATE {self._migrated}")
        return self._url("shared"), self._conninfo("shared")

    @cached_property
    def _migrated(self) -> str:
        self.execute("CREATE DATABASE migrated")
        open_database(self._url("migrated")).close()
        return "migrated"


@cache
def own_server() -> Postgres:
    """The server of this process, started when the first test asks for it."""
    server = start_or_skip()
    atexit.register(server.close)
    return server


@cache
def url_for(folder: Path, name: str = "library.db", kind: str = KIND) -> str:
    """The database that belongs to a file's name in a test's folder."""
    return f"sqlite:///{folder}/{name}" if kind == "sqlite" else own_server().create()


def start_or_skip(settings: Mapping[str, str] = QUICK) -> Postgres:
    if CHOSEN == "sqlite":
        pytest.skip("CHARTPACT_TEST_DATABASE asks for SQLite alone")
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    return Postgres(programs, settings)
