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

from chartpact.library import Scripts, database, open_database
from chartpact.library.schema import metadata

from .conftest import check

HERE = Path(__file__).parent
REVISIONS = [
    each.revision
    for each in ScriptDirectory(str(Path(database.__file__).parent / "migrations")).walk_revisions()
]


def test_a_fresh_database_has_exactly_the_tables_the_code_knows(engine):
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []


# Every revision there is, now and later, without anybody having to add it here.
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_earlier_version_is_brought_up_to_date_and_loses_nothing(tmp_path, revision):
    engine = sa.create_engine(f"sqlite:///{tmp_path}/old.db")
    sa.event.listen(engine, "connect", database._prepare)
    sa.event.listen(engine, "begin", database._begin)
    database.migrate(engine, revision)
    old = kept_in(engine)
    assert old
    with database.write(engine) as connection:
        for table in old.values():
            for number in range(2):
                connection.execute(sa.insert(table).values(row(table, number)))
    engine.dispose()
    current = open_database(f"sqlite:///{tmp_path}/old.db")
    with current.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == REVISIONS[0]
        for name, table in kept_in(current).items():
            if name in old:
                both = [each.name for each in table.columns if each.name in old[name].columns]
                found = connection.execute(sa.select(*(table.c[each] for each in both))).mappings()
                was = [row(old[name], number) for number in range(2)]
                assert [dict(each) for each in found] == [{k: w[k] for k in both} for w in was]
    current.dispose()


def kept_in(engine: sa.Engine) -> dict[str, sa.Table]:
    """The tables that a database has by now, whatever the code knows of them."""
    found = sa.MetaData()
    found.reflect(engine)
    return {name: each for name, each in found.tables.items() if name != "alembic_version"}


def row(table: sa.Table, number: int) -> dict[str, object]:
    kinds = {str: f"text {number}", int: number, bytes: b"bytes %d" % number}
    return {each.name: kinds[each.type.python_type] for each in table.columns}


def test_the_file_is_in_wal_mode_and_readers_see_no_unfinished_write(engine):
    scripts = Scripts(engine, check)
    scripts.register("ann", "mine", "good")
    with database.write(engine) as connection:
        connection.exec_driver_sql("DELETE FROM user_indicators")
        assert [s.name for s in scripts.of("ann")] == ["mine"]
        connection.rollback()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        full = 2  # what is acknowledged is on the disk
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == full


def test_who_writes_is_served_in_the_order_in_which_they_came(engine):
    served: list[int] = []

    def writes(number: int) -> None:
        with database.write(engine):
            served.append(number)

    writers = [Thread(target=writes, args=(number,)) for number in range(5)]
    with database.write(engine):
        for number, writer in enumerate(writers):
            writer.start()
            ends = time.monotonic() + 20
            while len(database._writing[engine]._waiting) <= number:
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

    def counts(engine: sa.Engine) -> None:
        with database.write(engine) as connection:
            there = connection.exec_driver_sql("SELECT count(*) FROM user_bars").scalar()
            before.append(there)
            time.sleep(0.2)
            connection.exec_driver_sql(
                "INSERT INTO user_bars VALUES ('ann', ?, '', 0, '{}', 0)", (str(there),)
            )

    both = [Thread(target=counts, args=(engine,)) for engine in (one, other)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    one.dispose()
    other.dispose()
    assert sorted(before) == [0, 1]


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path):
    url = f"sqlite:///{tmp_path}/newer.db"
    with open_database(url).begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ValueError, match="made by a newer chartpact"):
        open_database(url)


def test_a_database_that_can_only_be_read_is_noticed_before_anybody_writes(tmp_path):
    open_database(f"sqlite:///{tmp_path}/old.db").dispose()
    engine = sa.create_engine(f"sqlite:///file:{tmp_path}/old.db?mode=ro&uri=true")
    with pytest.raises(sa.exc.OperationalError, match="readonly"):
        database.check_writable(engine)
    engine.dispose()


def test_what_is_kept_is_for_its_owners_eyes_alone(tmp_path):
    open_database(f"sqlite:///{tmp_path}/new/library.db").dispose()
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
from chartpact.library import Quota, Scripts, open_database
scripts = Scripts(open_database(url), check, Quota(scripts=10_000))
with open(acknowledgements, "w") as told:
    for number in range(10_000):
        scripts.register(user, f"s{number}", f"good {number}")
        print(number, file=told, flush=True)
"""


def test_four_writers_killed_in_mid_write_lose_no_acknowledged_script(tmp_path):
    url = f"sqlite:///{tmp_path}/storm.db"
    open_database(url).dispose()
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
    engine = open_database(url)
    scripts = Scripts(engine, check)
    for user, path in told.items():
        acknowledged = path.read_text().split()
        kept = {script.name: script.source for script in scripts.of(user)}
        for number in acknowledged:
            assert kept[f"s{number}"] == f"good {number}"
        assert len(kept) <= len(acknowledged) + 1  # the one in flight may have made it
        for name, source in kept.items():
            assert scripts.history(user, name)[0].source == source
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    engine.dispose()


def test_processes_that_start_together_migrate_once(tmp_path):
    code = "import sys; from chartpact.library import open_database; open_database(sys.argv[1])"
    command = [sys.executable, "-c", code, f"sqlite:///{tmp_path}/race.db"]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for process in started:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
