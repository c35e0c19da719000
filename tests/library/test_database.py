import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.effort import EXHAUSTIVE

import chartpact.library
from chartpact.library.database import Database, open_database
from chartpact.library.schema import metadata, user_bars
from chartpact.library.scripts import Scripts

from .conftest import check

HERE = Path(__file__).parent
REVISIONS = [
    each.revision
    for each in ScriptDirectory(
        str(Path(chartpact.library.__file__).parent / "migrations")
    ).walk_revisions()
]


def test_a_fresh_database_has_exactly_the_tables_the_code_knows(database):
    with database.read() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []


# Every revision there is, now and later, without anybody having to add it here.
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_earlier_version_is_brought_up_to_date_and_loses_nothing(
    tmp_path, empty_url, revision
):
    (tmp_path / "new").mkdir()
    earlier = Database(sa.create_engine(empty_url))
    earlier.migrate(revision)
    old = tables_of(earlier)
    assert old
    with earlier.write(None) as connection:
        for table in old.values():
            for number in range(2):
                connection.execute(sa.insert(table).values(row(table, number)))
    earlier.close()
    current = open_database(empty_url)
    with current.read() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == REVISIONS[0]
        for name, table in tables_of(current).items():
            if name in old:
                both = [each.name for each in table.columns if each.name in old[name].columns]
                found = connection.execute(sa.select(*(table.c[each] for each in both))).mappings()
                was = [row(old[name], number) for number in range(2)]
                assert [dict(each) for each in found] == [{k: w[k] for k in both} for w in was]
    current.close()


def tables_of(database: Database) -> dict[str, sa.Table]:
    """The tables that a database has by now, whatever the code knows of them."""
    found = sa.MetaData()
    found.reflect(database.engine)
    return {name: each for name, each in found.tables.items() if name != "alembic_version"}


def row(table: sa.Table, number: int) -> dict[str, object]:
    kinds = {str: f"text {number}", int: number, bytes: b"bytes %d" % number}
    return {each.name: kinds[each.type.python_type] for each in table.columns}


def test_readers_see_no_unfinished_write(database):
    scripts = Scripts(database, check)
    scripts.register("ann", "mine", "good")
    with database.write("ann") as connection:
        connection.exec_driver_sql("DELETE FROM user_indicators")
        assert [s.name for s in scripts.of("ann")] == ["mine"]
        connection.rollback()


@pytest.fixture
def embedded(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/library.db")
    yield database
    database.close()


def test_the_file_is_in_wal_mode_and_what_is_acknowledged_is_on_the_disk(embedded):
    with embedded.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        full = 2
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == full


def test_who_writes_is_served_in_the_order_in_which_they_came(embedded):
    served: list[int] = []

    def writes(number: int) -> None:
        with embedded.write(f"user{number}"):
            served.append(number)

    writers = [Thread(target=writes, args=(number,)) for number in range(5)]
    with embedded.write("ann"):
        for number, writer in enumerate(writers):
            writer.start()
            ends = time.monotonic() + 20
            while len(embedded.writers.waiting) <= number:
                assert time.monotonic() < ends
                time.sleep(0.001)
        assert served == []
    for writer in writers:
        writer.join()
    assert served == [0, 1, 2, 3, 4]


def test_transactions_of_one_user_come_one_after_another_in_any_process(shared_url):
    url = shared_url
    one, other = open_database(url), open_database(url)  # as two processes have them
    before: list[int] = []

    def counts(database: Database) -> None:
        with database.write("ann") as connection:
            there = connection.exec_driver_sql("SELECT count(*) FROM user_bars").scalar()
            before.append(there)
            time.sleep(0.2)
            row = {"user_id": "ann", "name": str(there), "content": b"", "size": 0}
            row |= {"facts_json": "{}", "created_at": 0}
            connection.execute(sa.insert(user_bars).values(row))

    both = [Thread(target=counts, args=(database,)) for database in (one, other)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    one.close()
    other.close()
    assert sorted(before) == [0, 1]


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(url):
    newer = open_database(url)
    with newer.write(None) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    with pytest.raises(ValueError, match="made by a newer chartpact"):
        open_database(url)


def test_a_database_that_can_only_be_read_is_noticed_before_anybody_writes(tmp_path):
    open_database(f"sqlite:///{tmp_path}/old.db").close()
    database = Database(sa.create_engine(f"sqlite:///file:{tmp_path}/old.db?mode=ro&uri=true"))
    with pytest.raises(sa.exc.OperationalError, match="readonly"):
        database.check_writable()
    database.close()


def test_what_is_kept_is_for_its_owners_eyes_alone(tmp_path):
    open_database(f"sqlite:///{tmp_path}/new/library.db").close()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new" / "library.db").stat().st_mode & 0o777 == 0o600


def test_a_database_in_memory_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="name a file"):
        open_database("sqlite://")


# One interpreter that forks when it has imported all, so that four writers cost the imports of one.
# Each registers scripts of its own user until it is killed, or so many of one user, 5 versions of
# each, then 6 of a user who may keep 10 in all.
WRITERS = """
import os, sys
from dataclasses import replace
from itertools import count
url, here, folder, until = sys.argv[1:]
sys.path.insert(0, here)
from conftest import check
from chartpact.library.database import open_database
from chartpact.library.scripts import QUOTA, Scripts
open_database(url).close()
children = []
for number in range(4):
    if (pid := os.fork()) == 0:
        break
    children.append(pid)
else:
    sys.exit(any([os.waitpid(pid, 0)[1] for pid in children]))
database = open_database(url)
plenty, few = (Scripts(database, check, replace(QUOTA, texts=most)) for most in (10_000, 10))
with open(f"{folder}/user{number}", "w") as told:
    for turn in count() if until == "killed" else range(int(until)):
        storm = until == "killed"
        user = f"user{number}" if storm else "ann"
        name = f"s{turn if storm else turn % (int(until) // 5)}"
        plenty.register(user, name, f"good {number} {turn}")
        print(name, turn, file=told, flush=True)
for turn in range(6):
    try:
        few.register("bob", f"s{number}_{turn}", "good")
    except ValueError as refusal:
        assert "you keep 10 scripts and may keep 10" in str(refusal), refusal
"""


def start_writers(url: str, folder: Path, until: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITERS, url, str(HERE), str(folder), until],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
def test_four_writers_killed_in_mid_write_lose_no_acknowledged_script(tmp_path, url):
    writers = start_writers(url, tmp_path, "killed")
    told = {f"user{i}": tmp_path / f"user{i}" for i in range(4)}
    while not all(path.exists() and path.read_text().count("\n") > 9 for path in told.values()):
        assert writers.poll() is None, writers.communicate()
        time.sleep(0.02)
    os.killpg(writers.pid, signal.SIGKILL)
    assert writers.communicate(timeout=600)[1] == ""  # never "database is locked"
    database = open_database(url)
    scripts = Scripts(database, check)
    for number, (user, path) in enumerate(told.items()):
        acknowledged = [line.split() for line in path.read_text().splitlines(keepends=True)]
        kept = {script.name: script.source for script in scripts.of(user)}
        for name, turn in acknowledged:
            assert kept[name] == f"good {number} {turn}"
        assert len(kept) <= len(acknowledged) + 1  # the one in flight may have made it
        for name, source in kept.items():
            assert scripts.history(user, name)[0].source == source
    if database.embedded:
        with database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    database.close()


@pytest.mark.slow
def test_four_processes_register_scripts_at_once_without_an_error_and_never_overrun_a_quota(
    tmp_path, url
):
    each_writes = 250 if EXHAUSTIVE else 40
    writers = start_writers(url, tmp_path, str(each_writes))
    assert writers.communicate(timeout=600)[1] == ""
    assert writers.returncode == 0
    told = [(tmp_path / f"user{i}").read_text() for i in range(4)]
    assert sum(each.count("\n") for each in told) == 4 * each_writes
    database = open_database(url)
    scripts = Scripts(database, check)
    assert len(scripts.of("ann")) == each_writes // 5
    for script in scripts.of("ann"):  # 20 registrations each, every one of which is a version
        versions = scripts.history("ann", script.name)
        assert [each.version for each in versions] == list(range(20, 0, -1))
        assert versions[0].source == script.source
    assert len(scripts.of("bob")) == 10
    database.close()


MIGRATORS = """
import os, sys
import alembic.command, alembic.config
from chartpact.library.database import open_database
children = []
for _ in range(2):
    if (pid := os.fork()) == 0:
        break
    children.append(pid)
else:
    sys.exit(any([os.waitpid(pid, 0)[1] for pid in children]))
open_database(sys.argv[1]).close()
"""


@pytest.mark.slow
def test_processes_that_start_together_migrate_once(empty_url):
    command = [sys.executable, "-c", MIGRATORS, empty_url]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
