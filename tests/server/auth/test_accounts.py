"""Accounts: who becomes whom, and what is left of them."""

import io
import time

import pytest
import sqlalchemy as sa
from tests.cases import in_one_test
from tests.postgres import url_for

from chartpact.__main__ import main
from chartpact.library.database import Database, open_database
from chartpact.library.errors import LibraryError
from chartpact.library.layouts import Layouts
from chartpact.library.schema import audit_events, metadata, user_indicators, users, web_sessions
from chartpact.server.auth import passwords
from chartpact.server.auth.accounts import AccountError, Accounts
from chartpact.server.auth.grants import Consent, Denied, Grants, challenge_of
from chartpact.server.auth.secret import digest, new_secret
from chartpact.server.auth.sessions import Sessions
from chartpact.server.auth.tokens import Lookup
from chartpact.server.refusals import DATABASE_FAILED

pytestmark = pytest.mark.both_databases
HASH = passwords.hash_password("correct horse battery")


@pytest.fixture
def database(storage, tmp_path):
    opened = open_database(url_for(tmp_path, kind=storage))
    yield opened
    opened.close()


def keep_script(database: Database, user: str, name: str = "mine") -> None:
    texts = dict.fromkeys(("source", "meta_json", "source_hash"), "x")
    row = {"user_id": user, "name": name, **texts, "created_at": 1, "updated_at": 1}
    with database.write(None) as connection:
        connection.execute(sa.insert(user_indicators).values(row))


def scripts_of(database: Database, user: str) -> list[str]:
    with database.read() as connection:
        query = sa.select(user_indicators.c.name).where(user_indicators.c.user_id == user)
        return list(connection.execute(query).scalars())


def test_a_database_from_before_accounts_upgrades_and_ann_finds_what_ann_kept(tmp_path):
    old = Database(sa.create_engine(f"sqlite:///{tmp_path}/old.db"))
    old.migrate("0001")
    keep_script(old, "ann")
    old.close()
    database = open_database(f"sqlite:///{tmp_path}/old.db")
    accounts = Accounts(database)
    with pytest.raises(AccountError, match="'ann' is taken"):
        accounts.sign_up("ann", HASH)  # who comes by themselves is not given her rows
    accounts.add("ann", HASH)
    user, _ = accounts.credentials("ann")
    assert scripts_of(database, user) == ["mine"]
    database.close()


@pytest.mark.parametrize("holder", ["user_indicators", "user_bars", "indicator_versions"])
def test_who_signs_up_never_gets_rows_that_were_there(database, holder):
    table = metadata.tables[holder]
    kinds = {str: "x", int: 1, bytes: b"x"}
    row = {column.name: kinds[column.type.python_type] for column in table.columns}
    with database.write(None) as connection:
        connection.execute(sa.insert(table).values(row | {"user_id": "zoe"}))
    with pytest.raises(AccountError, match="taken"):
        Accounts(database).sign_up("zoe", HASH)
    user = Accounts(database).sign_up("yan", HASH)
    assert user.startswith("u-")
    keep_script(database, "yan")  # by a server that names its users itself
    assert scripts_of(database, user) == []


@pytest.mark.parametrize("name", ["ann", "local", "Ann", "ænn", "a|b", "an", "x" * 33, "a b", ""])
def test_names_that_somebody_has_or_that_look_alike_cannot_be_signed_up(database, name):
    accounts = Accounts(database)
    accounts.add("ann", HASH)
    with pytest.raises(AccountError):
        accounts.sign_up(name, HASH)


@pytest.mark.parametrize("name", ["https://idp.example|ann", "", " ann", "a\nb", "x" * 256])
def test_the_operator_cannot_add_who_could_be_somebody_else(database, name):
    with pytest.raises(AccountError):
        Accounts(database).add(name, HASH)


def test_removing_an_account_leaves_no_row_of_it_in_any_table(database):
    accounts = Accounts(database)
    for number, user in enumerate(("ann", "bob")):
        accounts.add(user, HASH)
        kinds = {str: f"text {number}", int: 100 - number, bytes: b"x"}
        with database.write(None) as connection:
            for table in metadata.sorted_tables:
                row = {column.name: kinds[column.type.python_type] for column in table.columns}
                if "user_id" in row and table is not users:
                    connection.execute(sa.insert(table).values(row | {"user_id": user}))
    accounts.remove("ann")
    with database.read() as connection:
        for table in metadata.sorted_tables:
            if "user_id" in table.c and table is not audit_events:
                left = set(connection.execute(sa.select(table.c.user_id)).scalars())
                assert left == {"bob"}, table.name
        query = sa.select(audit_events.c.event).where(audit_events.c.user_id == "ann")
        assert list(connection.execute(query).scalars()) == ["account removed"]


def test_a_changed_password_signs_out_every_other_browser(database):
    accounts = Accounts(database)
    accounts.add("ann", HASH)
    one, other = digest(new_secret()), digest(new_secret())
    with database.write(None) as connection:
        for session in (one, other):
            row = {"session_hash": session, "user_id": "ann", "created_at": 1, "expires_at": 9}
            connection.execute(sa.insert(web_sessions).values(row))
    accounts.set_password("ann", HASH, keep_session=one)
    with database.read() as connection:
        assert list(connection.execute(sa.select(web_sessions.c.session_hash)).scalars()) == [one]
    accounts.set_password("ann", HASH)
    with database.read() as connection:
        assert connection.execute(sa.select(web_sessions)).first() is None


def test_who_signs_in_while_the_password_changes_or_the_account_ends_is_not_let_in(database):
    accounts, sessions = Accounts(database), Sessions(database)
    accounts.add("ann", HASH)
    assert sessions.start("ann", "password", None, HASH)
    accounts.set_password("ann", "another hash")  # after the old one was checked
    with pytest.raises(Denied, match="sign in again"):
        sessions.start("ann", "password", None, HASH)
    accounts.remove("ann")
    with pytest.raises(Denied, match="sign in again"):
        sessions.start("ann", "link", None)
    assert rows_of(database, "ann") == {"audit_events": 1}


def test_nothing_is_issued_to_an_account_that_ends_meanwhile(database):
    accounts, grants = Accounts(database), Grants(database)
    accounts.add("ann", HASH)
    redirect = "http://127.0.0.1/cb"
    consent = Consent("ann", "client", "Client", "read", "resource", redirect, challenge_of("v"))
    code = grants.issue_code(consent, None)
    accounts.remove("ann")
    for issue in (
        lambda: grants.redeem(code, "client", redirect, "v", None),
        lambda: grants.issue_code(consent, None),
        lambda: grants.make_personal("ann", "mine", "read", 1),
    ):
        with pytest.raises(Denied):
            issue()
    assert rows_of(database, "ann") == {"audit_events": 1}


def rows_of(database: Database, user: str) -> dict[str, int]:
    """How many rows each table has of a user."""
    counts = {}
    with database.read() as connection:
        for table in metadata.sorted_tables:
            if "user_id" in table.c:
                query = sa.select(sa.func.count()).where(table.c.user_id == user)
                counts[table.name] = connection.execute(query).scalar_one()
    return {name: count for name, count in counts.items() if count}


def test_passwords_are_stored_as_argon2id_and_never_twice_alike():
    assert HASH.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert passwords.hash_password("correct horse battery") != HASH
    assert passwords.verify(HASH, "correct horse battery")
    for wrong in ("correct horse batterY", "", "x" * 600):
        assert not passwords.verify(HASH, wrong)
    assert passwords.verify(passwords.hash_password("pa\u0308sswort ok"), "p\u00e4sswort ok")


def test_a_user_who_does_not_exist_costs_as_much_as_one_who_does():
    def cost(stored: str | None) -> float:
        spent = []
        for _ in range(5):
            began = time.thread_time()
            passwords.verify(stored, "wrong password")
            spent.append(time.thread_time() - began)
        return min(spent)

    assert not passwords.verify(None, "no account has this password")
    assert cost(None) > cost(HASH) / 3  # no early way out: the hash is computed


@pytest.mark.parametrize("password", ["", "short", "x" * 513])
def test_a_password_too_short_or_too_long_is_refused(password):
    with pytest.raises(passwords.BadPassword, match="10 to 512 letters"):
        passwords.hash_password(password)


@pytest.fixture
def operator(tmp_path, monkeypatch, capsys):
    """Runs `chartpact user` in this process; returns its exit code and what it printed."""

    def run(*arguments: str, sent: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(sent))
        code = main(["user", *arguments, "--db", f"sqlite:///{tmp_path}/it.db"])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_the_operator_adds_lists_changes_and_removes_users(operator, tmp_path):
    first = {"sent": "first password\n"}
    assert operator("add", "ann", "--password-stdin", **first) == (0, "ann may sign in\n", "")
    code, _, told = operator("add", "ann", "--password-stdin", **first)
    assert code == 2
    assert "'ann' is taken" in told
    assert operator("list")[1].startswith("ann  (by operator, ")
    assert "no terminal" in operator("password", "ann")[2]
    changed = operator("password", "ann", "--password-stdin", sent="second password\n")
    assert changed[0] == 0
    database = open_database(f"sqlite:///{tmp_path}/it.db")
    _, stored = Accounts(database).credentials("ann")
    assert passwords.verify(stored, "second password")
    database.close()
    assert "did you mean" in operator("remove", "anna", "--yes")[2]
    assert "use --yes" in operator("remove", "ann")[2]
    assert operator("remove", "ann", "--yes")[0] == 0
    assert operator("list")[:2] == (0, "")


def test_who_was_removed_writes_nothing_any_more_until_they_are_added_again(database):
    accounts, layouts = Accounts(database), Layouts(database)
    accounts.add("ann", HASH)
    layouts.put("ann", {"of": "ann"})
    accounts.remove("ann")
    with pytest.raises(LibraryError, match="this account was removed"):
        layouts.put("ann", {"of": "ann"})
    accounts.add("ann", HASH)
    layouts.put("ann", {"of": "the next"})
    assert layouts.get("ann") == {"of": "the next"}


def test_what_an_earlier_version_left_of_a_removed_account_is_purged_from_every_table(database):
    accounts = Accounts(database)
    for user in ("ann", "bob"):
        accounts.add(user, HASH)
    accounts.remove("ann")
    theirs = [table for table in metadata.sorted_tables if "user_id" in table.c]
    kinds = {str: "text", int: 7, bytes: b"x"}
    with database.write(None) as connection:
        for table in theirs:
            if table not in (users, audit_events):
                row = {column.name: kinds[column.type.python_type] for column in table.columns}
                connection.execute(sa.insert(table).values(row | {"user_id": "ann"}))
    accounts.purge()
    with database.read() as connection:
        for table in theirs:
            if table is not audit_events:
                assert "ann" not in connection.execute(sa.select(table.c.user_id)).scalars().all()
    assert [account.name for account in accounts.list()] == ["bob"]


@in_one_test("password", ["a" * 10, "1234567890", "password123", "P@ssw0rd!!1", "annann2026"])
def test_a_password_that_anybody_would_try_first_is_refused(password):
    with pytest.raises(passwords.BadPassword, match="anybody would try"):
        passwords.hash_password(password, "ann")


def test_a_failing_look_up_of_a_token_is_a_failure_of_the_database(database):
    with database.write(None) as connection:
        connection.exec_driver_sql("ALTER TABLE tokens RENAME TO gone")
    with pytest.raises(DATABASE_FAILED, match=r"no such table|does not exist"):
        Lookup(database).bearer("x")
    with pytest.raises(DATABASE_FAILED):
        database.check_writable()
