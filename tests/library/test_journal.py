"""The journal: append-only, replayed to the same states, folded, and safe from kill -9."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
import sqlalchemy as sa

from chartpact.contracts import load, read
from chartpact.library import follows as follows_module
from chartpact.library import journal as journal_module
from chartpact.library.database import open_database
from chartpact.library.errors import LibraryError
from chartpact.library.follows import SHELL, Follows, LostLease
from chartpact.library.journal import Journal, SnapshotRecord, changes_since, latest
from chartpact.library.schema import (
    journal_bodies,
    journal_changes,
    journal_checkpoints,
    journal_entries,
)
from chartpact.snapshot import Snapshot
from chartpact.tracker import Rules

CONTRACT = """\
contract: small
version: 1.0.0
identity: {pine_title: Small}
channels: {lines: signal}
elements:
  zone: {from: lines, where: color == '#ff0000', reads: {worn: "style == 'dotted'"}, key: [x1.time]}
states:
  zone:
    observe: {worn: worn}
    rows: {ACTIVE: {when: {worn: false}}, SPENT: {when: {worn: true}}}
    initial: ACTIVE
    transitions: {ACTIVE: [SPENT, DEAD], SPENT: [DEAD]}
    gone: DEAD
output: {zones: {from: zone, sort: x1, give: {state: state}}}
"""
BAR = 60_000


def picture(bar, *styles, color="#ff0000", confirmed=True):
    def line(n, style):
        at = {"n": n, "bar": n, "time": n * BAR}
        return {"id": n, "x1": at, "x2": at, "y1": 1.0, "y2": 1.0, "style": style, "color": color}

    lines = [line(n, style) for n, style in enumerate(styles) if style]
    chart = {
        "symbol": "ES",
        "timeframe": "1m",
        "as_of": bar * BAR + 1,
        "confirmed": confirmed,
        "last_time": bar * BAR,
        "first_time": 0,
    }
    study = {"name": "Small", "lines": lines, "limits": {"lines": 50}}
    return Snapshot(
        {"schema": 1, "chart": chart, "source": {"name": "by hand"}, "studies": [study]}
    )


@pytest.fixture
def contract():
    return load(CONTRACT)


@pytest.fixture
def follow(database):
    follows = Follows(database)
    return follows.lease(follows.add("ann", "small", {"symbol": "ES"}, 5000), "me")


@pytest.fixture
def look(contract):
    def look(journal, snapshot):
        reading = read(contract, snapshot)
        return journal.record(Rules.of(contract), CONTRACT, reading, SnapshotRecord.of(snapshot))

    return look


def count(database, table):
    with database.read() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar()


def kinds(recorded):
    return [event["kind"] or event["type"] for event in recorded.changes]


def test_every_reading_is_in_the_journal_and_a_replay_gives_the_same(database, follow, look):
    journal = Journal(database, follow, "me")
    told = []
    for snapshot in (
        picture(1, "solid"),
        picture(2, "dotted", "solid"),
        picture(3, "solid", color="#00ff00"),  # refused
        picture(4, "solid", "solid"),  # illegal
        picture(5, confirmed=False),
    ):
        told += look(journal, snapshot).changes
    assert [event["kind"] or event["type"] for event in told] == [
        "started", "changed", "appeared", "refused", "readable", "illegal",
    ]  # fmt: skip
    assert [event["seq"] for event in told] == [1, 2, 3, 4, 5, 6]
    again = Journal(database, follow, "me")
    assert again.memory == journal.memory
    memory, changes = again.replay()
    assert memory == journal.memory
    unnumbered = [{k: v for k, v in one.items() if k not in ("seq", "follow")} for one in told]
    assert changes == unnumbered
    assert again.after(4) == told[4:]


def test_equal_readings_of_one_bar_are_one_entry(database, follow, look):
    journal = Journal(database, follow, "me")
    for _ in range(5):
        look(journal, picture(1, "solid"))
    assert count(database, journal_entries) == 1
    look(journal, picture(2, "solid"))
    look(journal, picture(2, "solid", confirmed=False))
    assert count(database, journal_entries) == 3
    assert count(database, journal_changes) == 1
    bodies = count(database, journal_bodies)
    assert bodies == 3  # the reading, the rules and the contract
    with database.read() as connection:
        first = connection.execute(sa.select(journal_entries).order_by("seq")).first()
    assert (first.count, first.first_as_of) == (5, BAR + 1)


def test_pruning_folds_what_is_old_into_a_checkpoint(database, follow, look, monkeypatch):
    monkeypatch.setattr(journal_module, "CHECKPOINT_EVERY", 4)
    monkeypatch.setattr(journal_module, "MOST_ENTRIES", 2)
    monkeypatch.setattr(journal_module, "MOST_CHANGES", 3)
    journal = Journal(database, follow, "me")
    for bar in range(1, 15):
        look(journal, picture(bar, *(["solid"] * bar)))
    assert count(database, journal_checkpoints) == 1
    assert count(database, journal_entries) < 6
    again = Journal(database, follow, "me")
    assert again.memory == journal.memory
    assert len(journal.memory.states()) == 14
    found = changes_since(database, follow, since=None)
    assert (found.changes, found.more, found.lost_before) == ([], False, None)
    start = journal_module._cursor(follow, 0)
    found = changes_since(database, follow, since=start)
    assert found.lost_before == found.changes[0]["seq"] > 1
    assert [event["seq"] for event in found.changes][-1] == 14


def test_pictures_are_kept_of_what_was_refused_or_illegal(database, follow, look, monkeypatch):
    monkeypatch.setattr(journal_module, "CHECKPOINT_EVERY", 3)
    monkeypatch.setattr(journal_module, "MOST_PICTURES", 1)
    journal = Journal(database, follow, "me")
    for bar in range(1, 8):
        look(journal, picture(bar, "solid", color="#00ff00" if bar % 2 else "#ff0000"))
    with database.read() as connection:
        bodies = connection.execute(sa.select(journal_bodies.c.hash)).scalars().all()
        hashes = connection.execute(sa.select(journal_entries.c.snapshot)).scalars().all()
    pictures = {name for name in bodies if name.startswith("picture:")}
    assert 1 <= len(pictures) <= 2
    assert len(set(hashes)) == 7  # the hash of every snapshot that was read
    assert pictures <= set(hashes)


def test_texts_of_contracts_leave_with_the_readings_that_name_them(database, follow, monkeypatch):
    monkeypatch.setattr(journal_module, "CHECKPOINT_EVERY", 4)
    monkeypatch.setattr(journal_module, "MOST_ENTRIES", 2)
    journal = Journal(database, follow, "me")
    for bar in range(1, 15):
        text = CONTRACT.replace("version: 1.0.0", f"version: 1.0.{bar}")
        changed = load(text)
        snapshot = picture(bar, *(["solid"] * bar))
        journal.record(
            Rules.of(changed), text, read(changed, snapshot), SnapshotRecord.of(snapshot)
        )
    with database.read() as connection:
        stored = dict(
            connection.execute(sa.select(journal_bodies.c.hash, journal_bodies.c.data)).all()
        )
    readings = [json.loads(text) for name, text in stored.items() if name.startswith("body:")]
    texts = {name for name in stored if name.startswith("contract:")}
    assert texts == {reading["contract_text"] for reading in readings}
    assert {name for name in stored if name.startswith("rules:")} == {
        reading["rules"] for reading in readings
    }
    assert len(texts) < 8
    newest = max(readings, key=lambda reading: int(reading["version"].rpartition(".")[2]))
    assert f"version: {newest['version']}" in stored[newest["contract_text"]]
    assert Journal(database, follow, "me").memory == journal.memory


def test_changes_are_given_in_order_a_part_at_a_time(database, follow, look):
    journal = Journal(database, follow, "me")
    before = changes_since(database, follow)
    look(journal, picture(1, *(["solid"] * 5)))
    first = changes_since(database, follow, before.next, most=3)
    assert ([event["seq"] for event in first.changes], first.more) == ([1, 2, 3], True)
    rest = changes_since(database, follow, first.next, most=3)
    assert ([event["seq"] for event in rest.changes], rest.more) == ([4, 5], False)
    assert [one["state"] for one in rest.states] == ["ACTIVE"] * 5
    assert changes_since(database, follow, rest.next).changes == []
    with pytest.raises(LibraryError, match="no cursor"):
        changes_since(database, follow, "nonsense!")


def test_a_cursor_of_a_follow_that_ended_begins_anew(database, look):
    follows = Follows(database)
    first = follows.lease(follows.add("ann", "small", {}, 5000), "me")
    look(Journal(database, first, "me"), picture(1, "solid"))
    cursor = changes_since(database, first).next
    follows.remove("ann", first.follow)
    assert count(database, journal_entries) == 0
    again = replace(first, created_at=first.created_at + 1)
    assert changes_since(database, again, cursor).lost_before is None
    assert follows.of("ann") == []


def test_one_process_reads_a_follow(database, follow, look):
    follows = Follows(database)
    with pytest.raises(LostLease):
        follows.lease(follow, "other")
    journal = Journal(database, follow, "me")
    follows.release(follow, "me")
    follows.lease(follow, "other")
    with pytest.raises(LostLease):
        look(journal, picture(1, "solid"))
    assert count(database, journal_entries) == 0
    assert journal.memory.states() == []


def test_a_user_follows_ten_contracts_at_intervals_of_five_seconds(database):
    follows = Follows(database)
    with pytest.raises(LibraryError, match="every 5 seconds"):
        follows.add("ann", "small", {}, 4999)
    numbers = [follows.add("ann", "small", {"symbol": str(n)}, 5000).follow for n in range(10)]
    assert len(set(numbers)) == 10
    assert follows.add("ann", "small", {"symbol": "3"}, 9000).follow == numbers[3]
    with pytest.raises(LibraryError, match="as many as you may"):
        follows.add("ann", "small", {"symbol": "new"}, 5000)
    follows.add("bob", "small", {}, 5000)
    follows.add("ann", "small", {}, 1000, SHELL)
    assert [one.follow for one in follows.of("bob")] == [1]
    with pytest.raises(LibraryError, match="nothing under the number"):
        follows.get("bob", 7)
    assert {one.user for one in follows.due()} == {"ann", "bob"}
    assert all(one.door == "server" for one in follows.due())
    assert {one.user for one in follows.due("bob")} == {"bob"}


def test_a_source_that_fails_is_tried_less_and_less_often(database, follow, monkeypatch):
    follows, now, waits = Follows(database), follows_module.now_ms(), []
    monkeypatch.setattr(follows_module, "now_ms", lambda: now)
    for _ in range(8):
        follow = follows.fail(follow, "nothing listens")
        waits.append((follow.due_at - now) // 1000)
    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]
    assert follow.stale_since is not None
    assert follows.due() == []


def test_a_paused_follow_is_not_due_until_it_goes_on_also_when_it_was_being_read(
    database, follow, look
):
    follows, journal = Follows(database), Journal(database, follow, "me")
    assert follows.pause("ann", follow.follow, True).paused
    look(journal, picture(1, "solid"))  # the reading that was under way
    assert follows.get("ann", follow.follow).paused
    assert follows.fail(follow, "nothing listens").paused
    follows.release(follow, "me")
    assert (follows.due(), follows.get("ann", follow.follow).stale_since) == ([], None)
    again = follows.pause("ann", follow.follow, False)
    assert (again.paused, again.error) == (False, None)
    assert [one.follow for one in follows.due()] == [follow.follow]


def test_what_a_follow_stands_at_is_its_last_reading_its_states_and_the_newest_changes(
    database, follow, look
):
    journal = Journal(database, follow, "me")
    assert latest(database, follow).reading is None
    look(journal, picture(1, "solid"))
    look(journal, picture(2, "dotted"))
    found = latest(database, follow)
    assert found.reading["state"] == {"zones": [{"state": "SPENT"}]}
    assert [(one["kind"], one["to"]) for one in found.changes] == [
        ("changed", "SPENT"),
        ("started", "ACTIVE"),
    ]
    assert found.changes[0]["at"] >= found.changes[1]["at"]
    assert [(one["state"], one["since"]) for one in found.states] == [("SPENT", 2 * BAR + 1)]
    look(journal, picture(3, "dotted", color="#00ff00"))
    refused = latest(database, follow)
    assert refused.reading["state"] is None
    assert refused.reading["violations"][0]["object"]["color"] == "#00ff00"


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from test_journal import CONTRACT, picture
from chartpact.contracts import load, read
from chartpact.library.database import open_database
from chartpact.library.follows import Follows
from chartpact.library.journal import Journal
from chartpact.tracker import Rules

database, contract = open_database(sys.argv[1]), load(CONTRACT)
follows = Follows(database)
follow = follows.lease(follows.add("ann", "small", {}, 5000), "me")
journal = Journal(database, follow, "me")
bar = len(journal.memory.states())
while True:
    bar += 1
    snapshot = picture(bar, *(["solid"] * bar))
    reading = read(contract, snapshot)
    for event in journal.record(Rules.of(contract), CONTRACT, reading).changes:
        print(event["seq"], flush=True)
"""


def test_kill_9_loses_no_acknowledged_reading(tmp_path):
    url, acknowledged = f"sqlite:///{tmp_path}/library.db", []
    for _ in range(3):
        command = [sys.executable, "-c", KILLED, url, os.path.dirname(__file__)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            for _ in range(7):
                acknowledged.append(int(writer.stdout.readline()))
            writer.send_signal(signal.SIGKILL)
            acknowledged += map(int, writer.stdout.read().split())
    database = open_database(url)
    follow = Follows(database).of("ann")[0]
    journal = Journal(database, follow, "me")
    stored = [event["seq"] for event in journal.after(0)]
    assert stored == list(range(1, len(stored) + 1))  # no number is lost or there twice
    assert set(acknowledged) <= set(stored)
    assert len(acknowledged) == len(set(acknowledged)) >= 21
    assert len(journal.memory.states()) == len(stored)
    memory, _ = journal.replay()
    assert json.dumps(memory.to_json()) == json.dumps(journal.memory.to_json())
    database.close()
