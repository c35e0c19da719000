"""The journal of a follow: every reading, in order, in rows that are only ever added.

A reading is committed before anybody is told of it. The memory of the tracker is what the entries
amount to: replaying them gives the same states and the same changes. A checkpoint holds the memory
up to an entry. A replay begins there, and pruning deletes what lies before it.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.contracts import Reading, Violation
from chartpact.contracts.reading import ChartFacts, Track
from chartpact.library.database import Database, count_bytes
from chartpact.library.errors import LibraryError
from chartpact.library.follows import LEASE_MS, Follow, LostLease, due_after, key
from chartpact.library.schema import (
    follows,
    journal_bodies,
    journal_changes,
    journal_checkpoints,
    journal_entries,
)
from chartpact.problem import Problem
from chartpact.snapshot import Snapshot
from chartpact.tracker import Memory, Rules, step

CHECKPOINT_EVERY = 50  # entries
MOST_ENTRIES = 2_000  # of a follow
MOST_CHANGES = 10_000
MOST_BYTES = 16 * 1024 * 1024  # of all bodies of a follow
KEPT_MS = 30 * 86_400_000
MOST_PICTURES = 20  # snapshots of refused and illegal readings
PICTURE_BYTES = 262_144
STATE_BYTES = 65_536  # a larger state is left out: no replay needs it
MOST_VIOLATIONS = 20  # that are stored of a reading
MOST_AT_ONCE = 500  # changes in one answer
MOST_LATEST = 50  # changes beside the last reading

Json = Any
Event = Mapping[str, Json]


@dataclass(frozen=True)
class Recorded:
    """The outcome of a committed reading: its numbered changes, and changes that are only shown."""

    changes: tuple[Event, ...]
    shown: tuple[Event, ...]


@dataclass(frozen=True)
class Changes:
    """The changes of one follow after a place in its journal."""

    changes: Sequence[Event]
    next: str
    more: bool
    lost_before: int | None  # the number of the first change that is kept, where some are not
    states: Sequence[Event]


@dataclass(frozen=True)
class Latest:
    """The present of a follow: its last reading, the states that count, and the latest changes."""

    reading: Mapping[str, Json] | None
    states: Sequence[Event]  # each with `since`, where its last change is kept
    changes: Sequence[Event]  # the newest first, each with `at`, when it was committed


@dataclass(frozen=True)
class SnapshotRecord:
    """The snapshot of a reading: its hash, and its JSON unless that is too large to keep."""

    hash: str
    text: str

    @classmethod
    def of(cls, snapshot: Snapshot) -> "SnapshotRecord":
        text = json.dumps(snapshot.to_json())
        return cls(_name("picture", text), text if len(text) <= PICTURE_BYTES else "")


class Journal:
    """The journal of one follow, and the memory that its entries amount to."""

    def __init__(self, database: Database, follow: Follow, owner: str = "") -> None:
        self._database, self.follow, self._owner = database, follow, owner
        self._own = {"user_id": follow.user, "follow": follow.follow}
        self._last: Mapping[str, Json] = {}  # the newest entry
        with database.read() as connection:
            self.memory, self._since, self._change, _ = self._replay(connection)

    def is_current(self) -> bool:
        """Whether no other process has added entries since this one looked."""
        columns = journal_entries.c
        query = sa.select(sa.func.max(columns.seq)).where(*key(journal_entries, self.follow))
        with self._database.read() as connection:
            newest: int | None = connection.execute(query).scalar()
        return bool((newest or 0) == self._last.get("seq", 0))

    # ---------------------------------------------------------------------------------------- write

    def record(
        self, rules: Rules, contract: str, reading: Reading, picture: "SnapshotRecord | None" = None
    ) -> Recorded:
        """Commits a reading with what it changed, and with the text of its contract.

        Of the snapshot the hash is kept; of a refused or illegal reading its JSON too.
        """
        now = now_ms()
        done = step(rules, self.memory, reading)
        about = _dump(rules.to_json())
        names = {"rules": _name("rules", about), "contract_text": _name("contract", contract)}
        body = _dump({**_describe(reading), **names})
        entry: dict[str, Json] = {
            "track": rules.track_of(reading),
            "body": _name("body", body),
            "bar": reading.facts.last_time,
            "confirmed": int(reading.facts.confirmed),
        }
        with self._database.write(self.follow.user) as connection:
            self._keep_lease(connection, now)
            if done.memory == self.memory and entry.items() <= self._last.items():
                self._extend(connection, reading, now)
                return Recorded((), self._name_follow(done.shown))
            texts = {names["rules"]: about, names["contract_text"]: contract, entry["body"]: body}
            irregular = reading.violations or any(one.get("violation") for one in done.changes)
            if picture is not None:
                entry["snapshot"] = picture.hash
                if irregular and picture.text:
                    texts[picture.hash] = picture.text
            self._put_bodies(connection, texts)
            seq = int(self._last.get("seq", 0)) + 1
            times = {"first_as_of": reading.as_of, "first_at": now, "last_at": now, "count": 1}
            entry |= {**self._own, "seq": seq, "last_as_of": reading.as_of, **times}
            connection.execute(sa.insert(journal_entries).values(entry))
            changes = self._put_changes(connection, done.changes, seq, now)
            checkpoint = seq - self._since >= CHECKPOINT_EVERY
            if checkpoint:
                self._put_checkpoint(connection, seq, done.memory, self._change + len(changes))
                self._prune(connection, seq, now)
        self.memory, self._last = done.memory, entry  # only what is committed
        self._change += len(changes)
        self._since = seq if checkpoint else self._since
        return Recorded(changes, self._name_follow(done.shown))

    def _name_follow(self, events: Sequence[Event]) -> tuple[Event, ...]:
        return tuple({**event, "follow": self.follow.follow} for event in events)

    def _keep_lease(self, connection: sa.Connection, now: int) -> None:
        values = {
            "lease_until": now + LEASE_MS,
            "read_at": now,
            "due_at": due_after(now + self.follow.every_ms),
            "failures": 0,
            "error": None,
        }
        leased = follows.c.lease_owner == self._owner
        query = sa.update(follows).where(*key(follows, self.follow), leased).values(values)
        if connection.execute(query).rowcount == 0:
            raise LostLease(f"another process reads the follow {self.follow.follow}, or it ended")

    def _extend(self, connection: sa.Connection, reading: Reading, now: int) -> None:
        """Notes one more reading that is like the newest entry."""
        columns = journal_entries.c
        values = {"last_as_of": reading.as_of, "last_at": now, "count": columns.count + 1}
        here = (*key(journal_entries, self.follow), columns.seq == self._last["seq"])
        connection.execute(sa.update(journal_entries).where(*here).values(values))

    def _put_bodies(self, connection: sa.Connection, texts: Mapping[str, str]) -> None:
        columns = journal_bodies.c
        here = (*key(journal_bodies, self.follow), columns.hash.in_(texts))
        known = set(connection.execute(sa.select(columns.hash).where(*here)).scalars())
        for name, text in texts.items():
            if name not in known:
                values = {**self._own, "hash": name, "data": text}
                connection.execute(sa.insert(journal_bodies).values(values))

    def _put_changes(
        self, connection: sa.Connection, events: Sequence[Event], entry: int, now: int
    ) -> tuple[Event, ...]:
        numbered = tuple(
            {**event, "seq": self._change + n}
            for n, event in enumerate(self._name_follow(events), start=1)
        )
        for event in numbered:
            values = {"seq": event["seq"], "entry": entry, "at": now, "data_json": _dump(event)}
            connection.execute(sa.insert(journal_changes).values({**self._own, **values}))
        return numbered

    def _put_checkpoint(
        self, connection: sa.Connection, entry: int, memory: Memory, change: int
    ) -> None:
        here = key(journal_checkpoints, self.follow)
        connection.execute(sa.delete(journal_checkpoints).where(*here))
        values = {"entry": entry, "change": change, "memory_json": _dump(memory.to_json())}
        connection.execute(sa.insert(journal_checkpoints).values({**self._own, **values}))

    # ---------------------------------------------------------------------------------------- prune

    def _prune(self, connection: sa.Connection, checkpoint: int, now: int) -> None:
        """Deletes what is old, or too much; the checkpoint has what it amounts to."""
        entries, changes, bodies = journal_entries.c, journal_changes.c, journal_bodies.c
        own = key(journal_bodies, self.follow)
        size = sa.func.sum(count_bytes(connection, bodies.data))
        heavy = (connection.execute(sa.select(size).where(*own)).scalar() or 0) > MOST_BYTES
        old = sa.or_(entries.seq <= checkpoint - MOST_ENTRIES, entries.last_at < now - KEPT_MS)
        if heavy:
            old = entries.seq > 0
        here = (*key(journal_entries, self.follow), entries.seq < checkpoint, old)
        connection.execute(sa.delete(journal_entries).where(*here))
        here = key(journal_changes, self.follow)
        newest = sa.select(sa.func.max(changes.seq)).where(*here).scalar_subquery()
        old = sa.or_(changes.seq <= newest - MOST_CHANGES, changes.at < now - KEPT_MS)
        connection.execute(sa.delete(journal_changes).where(*here, old))
        here = key(journal_entries, self.follow)
        stored = sa.select(bodies.hash).where(*own, bodies.hash.like("picture:%"))
        pictures = sa.select(entries.snapshot).where(*here, entries.snapshot.in_(stored))
        newest_pictures = pictures.order_by(entries.seq.desc()).limit(MOST_PICTURES)
        snapshots = connection.execute(newest_pictures).scalars().all()
        used: dict[str, Any] = {"body": sa.select(entries.body).where(*here), "picture": snapshots}
        for kind, hashes in used.items():
            unused = (bodies.hash.like(f"{kind}:%"), bodies.hash.not_in(hashes))
            connection.execute(sa.delete(journal_bodies).where(*own, *unused))
        self._prune_contracts(connection)

    def _prune_contracts(self, connection: sa.Connection) -> None:
        """Deletes the contracts, and the rules made from them, by which nothing here was read."""
        bodies, own = journal_bodies.c, key(journal_bodies, self.follow)
        read_by = sa.or_(bodies.hash.like("contract:%"), bodies.hash.like("rules:%"))
        stored = connection.execute(sa.select(bodies.hash).where(*own, read_by)).scalars().all()
        if len(stored) <= 2:  # those of the newest reading
            return
        texts = sa.select(bodies.data).where(*own, bodies.hash.like("body:%"))
        used = {
            name
            for text in connection.execute(texts).scalars()
            for name in map(json.loads(text).get, ("rules", "contract_text"))
        }
        unused = bodies.hash.in_([name for name in stored if name not in used])
        connection.execute(sa.delete(journal_bodies).where(*own, unused))

    # ----------------------------------------------------------------------------------------- read

    def after(self, seq: int) -> list[dict[str, Json]]:
        """The changes after one of them, oldest first."""
        columns = journal_changes.c
        query = sa.select(columns.data_json).where(*key(journal_changes, self.follow))
        with self._database.read() as connection:
            rows = connection.execute(query.where(columns.seq > seq).order_by(columns.seq))
            return [json.loads(text) for text in rows.scalars()]

    def last_reading(self) -> dict[str, Json] | None:
        """The last reading, with the first and last time at which it was read."""
        if not self._last:
            return None
        columns = journal_bodies.c
        here = (*key(journal_bodies, self.follow), columns.hash == self._last["body"])
        with self._database.read() as connection:
            text = connection.execute(sa.select(columns.data).where(*here)).scalar()
        if text is None:  # pruned while we looked
            return None
        times = {"as_of": self._last["last_as_of"], "read_at": self._last["last_at"]}
        fields = ("contract", "version", "state", "violations", "tracks", "untracked", "source")
        return {**{name: json.loads(text)[name] for name in fields}, **times}

    def replay(self) -> tuple[Memory, list[Event]]:
        """Replays the entries after the checkpoint: the memory at the end, and their changes."""
        with self._database.read() as connection:
            memory, _, _, changes = self._replay(connection)
        return memory, changes

    def _replay(self, connection: sa.Connection) -> tuple[Memory, int, int, list[Event]]:
        stored, memory, since, change = self._checkpoint(connection), Memory(), 0, 0
        while True:
            since = stored.entry if stored is not None else 0
            readings = list(self._readings(connection, since))
            again = self._checkpoint(connection)
            if again == stored:  # else entries were folded while we read
                break
            stored = again
        if stored is not None:
            memory, change = Memory.from_json(json.loads(stored.memory_json)), stored.change
        events: list[Event] = []
        for rules, reading in readings:
            done = step(rules, memory, reading)
            memory = done.memory
            events += done.changes
        return memory, since, change + len(events), events

    def _checkpoint(self, connection: sa.Connection) -> sa.Row[Any] | None:
        here = key(journal_checkpoints, self.follow)
        return connection.execute(sa.select(journal_checkpoints).where(*here)).first()

    def _readings(self, connection: sa.Connection, since: int) -> Iterator[tuple[Rules, Reading]]:
        """The readings after an entry; the newest entry is remembered."""
        entries, bodies = journal_entries.c, journal_bodies.c
        here = (*key(journal_entries, self.follow), entries.seq >= since)
        rows = connection.execute(sa.select(journal_entries).where(*here).order_by(entries.seq))
        listed = [dict(row) for row in rows.mappings()]
        wanted = {row["body"] for row in listed}
        texts: dict[str, Json] = {}
        query = sa.select(bodies.hash, bodies.data).where(*key(journal_bodies, self.follow))
        named = sa.or_(bodies.hash.in_(wanted), bodies.hash.like("rules:%"))
        for name, data in connection.execute(query.where(named)):
            texts[name] = json.loads(data)
        for row in listed:
            self._last = row
            body = texts[row["body"]]
            if row["seq"] > since:
                yield Rules.from_json(texts[body["rules"]]), _restore(body, row)


def changes_since(
    database: Database, follow: Follow, since: str | None = None, most: int = MOST_AT_ONCE
) -> Changes:
    """The changes after a cursor, oldest first; without one, the states and a cursor alone."""
    journal = Journal(database, follow)
    columns, here = journal_changes.c, key(journal_changes, follow)
    last = journal._change
    after = last if since is None else _read_cursor(follow, since)
    with database.read() as connection:
        first = connection.execute(sa.select(sa.func.min(columns.seq)).where(*here)).scalar()
        first = last + 1 if first is None else first
        query = sa.select(columns.seq, columns.data_json).where(*here, columns.seq > after)
        rows = connection.execute(query.order_by(columns.seq).limit(most + 1)).all()
    events = [json.loads(row.data_json) for row in rows[:most]]
    seq = rows[:most][-1].seq if events else max(after, last)
    lost = first if after + 1 < first else None
    return Changes(events, _cursor(follow, seq), len(rows) > most, lost, journal.memory.states())


def latest(database: Database, follow: Follow, most: int = MOST_LATEST) -> Latest:
    """The last reading of a follow, its states and since when they count, and what changed."""
    journal = Journal(database, follow)
    columns = journal_changes.c
    query = sa.select(columns.at, columns.data_json).where(*key(journal_changes, follow))
    with database.read() as connection:
        rows = connection.execute(query.order_by(columns.seq.desc()).limit(MOST_AT_ONCE)).all()
    events = [{**json.loads(row.data_json), "at": row.at} for row in rows]
    since: dict[str, Json] = {}
    for event in events:
        since.setdefault(_dump([event.get("machine"), event.get("key")]), event.get("as_of"))
    states = [
        {**state, "since": since.get(_dump([state["machine"], state["key"]]))}
        for state in journal.memory.states()
    ]
    return Latest(journal.last_reading(), states, events[:most])


def _cursor(follow: Follow, seq: int) -> str:
    return base64.urlsafe_b64encode(f"{follow.created_at}.{seq}".encode()).decode().rstrip("=")


def _read_cursor(follow: Follow, cursor: str) -> int:
    """The number of the change that a cursor stands at; of a follow that ended, the beginning."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        created, _, seq = base64.urlsafe_b64decode(padded).decode("ascii").partition(".")
        return int(seq) if int(created) == follow.created_at else 0
    except (ValueError, UnicodeError):
        message = "this is no cursor: give `next` of an earlier answer, or leave `since` out"
        raise LibraryError(Problem("value", message)) from None


# ------------------------------------------------------------------------------------------- bodies


def _describe(reading: Reading) -> dict[str, Json]:
    """The stored part of a reading, without its times."""
    facts = asdict(reading.facts)
    for name in ("confirmed", "last_time", "previous_time"):  # these differ from bar to bar
        del facts[name]
    state = reading.state
    if len(json.dumps(state)) > STATE_BYTES:
        state = None
    return {
        "contract": reading.contract,
        "version": reading.version,
        "state": state,
        "violations": [breach.to_json() for breach in reading.violations[:MOST_VIOLATIONS]],
        "tracks": reading.tracks and [list(track) for track in reading.tracks],
        "untracked": reading.untracked,
        "config": reading.config,
        "source": reading.source,
        "facts": facts,
        **({"unknown": dict(reading.unknown)} if reading.unknown else {}),
        **({"latches": dict(reading.latches)} if reading.latches else {}),
        **({"told": dict(reading.told)} if reading.told else {}),
    }


def _restore(body: Mapping[str, Json], row: Mapping[str, Json]) -> Reading:
    """A stored reading, as far as the tracker looks at it."""
    facts = ChartFacts(
        **{**body["facts"], "confirmed": bool(row["confirmed"]), "last_time": row["bar"]}
    )
    tracks = body["tracks"]
    if tracks is not None:
        tracks = tuple(Track(name, tuple(key), *rest) for name, key, *rest in tracks)
    words = ("kind", "path", "message", "contract", "version")
    return Reading(
        body["contract"],
        body["version"],
        body["state"],
        tuple(Violation(*(breach[word] for word in words)) for breach in body["violations"]),
        row["first_as_of"],
        body["source"],
        tracks=tracks,
        untracked=body["untracked"],
        config=body["config"],
        facts=facts,
        **{name: body[name] for name in ("unknown", "latches", "told") if name in body},
    )


def _dump(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _name(kind: str, text: str) -> str:
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
