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

import chartpact.library
from chartpact.library.database import Database, open_database
from chartpact.library.schema import metadata
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
def test_every_earlier_version_is_brought_up_to_date_and_loses_nothing(tmp_path, revision):
    earlier = Database(sa.create_engine(f"sqlite:///{tmp_path}/old.db"))
    earlier.migrate(revision)
    old = tables_of(earlier)
    assert old
    with earlier.write() as connection:
        for table in old.values():
            for number in range(2):
                connection.execute(sa.insert(table).values(row(table, number)))
    earlier.close()
    current = open_database(f"sqlite:///{tmp_path}/old.db")
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


def test_the_file_is_in_wal_mode_and_readers_see_no_unfinished_write(database):
    scripts = Scripts(database, check)
    scripts.register("ann", "mine", "good")
    with database.write() as connection:
        connection.exec_driver_sql("DELETE FROM user_indicators")
        assert [s.name for s in scripts.of("ann")] == ["mine"]
        connection.rollback()
    with database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        full = 2  # what is acknowledged is on the disk
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == full


def test_who_writes_is_served_in_the_order_in_which_they_came(database):
    served: list[int] = []

    def writes(number: int) -> None:
        with database.write():
            served.append(number)

    writers = [Thread(target=writes, args=(number,)) for number in range(5)]
    with database.write():
        for number, writer in enumerate(writers):
            writer.start()
            ends = time.monotonic() + 20
            while len(database.writers.waiting) <= number:
                assert time.monotonic() < ends
                time.sleep(0.001)
        assert served == []
    for writer in writers:
        writer.join()
    assert served == [0, 1, 2, 3, 4]


def test_a_transaction_that_will_write_takes_the_lock_before_it_reads(tmp_path):
    url = f"sqlite:///{tmp_path}/two.db"
    one, other = open_database(url), open_database(url)  # as two processes have them
    before: list[int] = []

    def counts(database: Database) -> None:
        with database.write() as connection:
            there = connection.exec_driver_sql("SELECT count(*) FROM user_bars").scalar()
            before.append(there)
            time.sleep(0.2)
            connection.exec_driver_sql(
                "INSERT INTO user_bars VALUES ('ann', ?, '', 0, '{}', 0)", (str(there),)
            )

    both = [Thread(target=counts, args=(database,)) for database in (one, other)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    one.close()
    other.close()
    assert sorted(before) == [0, 1]


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path):
    url = f"sqlite:///{tmp_path}/newer.db"
    with open_database(url).write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
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


WRITER = """
import sys
url, user, acknowledgements, here = sys.argv[1:]
sys.path.insert(0, here)
from conftest import check
from chartpact.library.database import open_database
from chartpact.library.scripts import Quota, Scripts
scripts = Scripts(open_database(url), check, Quota(scripts=10_000))
with open(acknowledgements, "w") as told:
    for number in range(10_000):
        scripts.register(user, f"s{number}", f"good {number}")
        print(number, file=told, flush=True)
"""


@pytest.mark.slow
def test_four_writers_killed_in_mid_write_lose_no_acknowledged_script(tmp_path):
    url = f"sqlite:///{tmp_path}/storm.db"
    open_database(url).close()
    told = {f"user{i}": tmp_path / f"user{i}" for i in range(4)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url, user, str(path), str(HERE)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for user, path in told.items()
    ]
    while not all(path.exists() and path.read_text().count("\n") > 9 for path in told.values()):
        assert all(process.poll() is None for process in writers)
        time.sleep(0.02)
    for process in writers:
        process.kill()
    for process in writers:
        assert process.communicate(timeout=600)[1] == ""  # never "database is locked"
    database = open_database(url)
    scripts = Scripts(database, check)
    for user, path in told.items():
        acknowledged = path.read_text().split()
        kept = {script.name: script.source for script in scripts.of(user)}
        for number in acknowledged:
            assert kept[f"s{number}"] == f"good {number}"
        assert len(kept) <= len(acknowledged) + 1  # the one in flight may have made it
        for name, source in kept.items():
            assert scripts.history(user, name)[0].source == source
    with database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    database.close()


@pytest.mark.slow
def test_processes_that_start_together_migrate_once(tmp_path):
    code = "import sys; from chartpact.library import database as d; d.open_database(sys.argv[1])"
    command = [sys.executable, "-c", code, f"sqlite:///{tmp_path}/race.db"]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for process in started:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
