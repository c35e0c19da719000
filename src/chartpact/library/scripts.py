"""Each user's scripts: register, update, delete, list, and the way back to earlier versions."""

import hashlib
import itertools
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Protocol

import sqlalchemy as sa

from chartpact.catalogue import ScriptIndicator
from chartpact.library.database import write
from chartpact.library.schema import indicator_versions, user_indicators
from chartpact.params import Param

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
LONGEST_NAME = 64
KEPT_VERSIONS = 20
EXPORT_FORMAT = "chartpact-library-1"

Problem = dict[str, Any]  # {step, kind, line, column, message, hint}


class Verdict(Protocol):
    """What the validation pipeline says of a source."""

    @property
    def params(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def meta(self) -> Mapping[str, Any]: ...
    @property
    def errors(self) -> Sequence[Problem]: ...


@dataclass(frozen=True)
class Quota:
    """What one user may keep."""

    scripts: int = 200
    bytes: int = 4 * 1024 * 1024  # of the scripts in force
    history_bytes: int = 32 * 1024 * 1024  # of all versions, those in force among them


@dataclass(frozen=True)
class Script:
    """One script as it is kept."""

    user: str
    name: str
    source: str
    noted: str  # PARAMS and META as of registration: JSON, which takes its time to read
    source_hash: str
    created_at: int
    updated_at: int

    @property
    def params(self) -> tuple[Mapping[str, Any], ...]:
        return self._read[0]

    @property
    def meta(self) -> Mapping[str, Any]:
        return self._read[1]

    @property
    def indicator(self) -> ScriptIndicator:
        """The script as an indicator, by what was noted when it was registered."""
        try:
            params = tuple(map(Param.from_json, self.params))
        except (TypeError, KeyError):  # noted by another version of the program
            params = ()
        return ScriptIndicator(self.name, self.source, params, self.meta, user=self.user)

    @cached_property
    def _read(self) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, Any]]:
        try:
            noted = json.loads(self.noted)
            return tuple(map(dict, noted["params"])), dict(noted["meta"])
        except (ValueError, TypeError, KeyError):  # only a copy of what the source says
            return (), {}


@dataclass(frozen=True)
class Version:
    """An earlier (or the present) state of a script."""

    version: int
    source: str
    source_hash: str
    created_at: int


class LibraryError(ValueError):
    """What was asked cannot be done; nothing was changed. `problems` are for programs."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(_sentence(problem) for problem in problems))
        self.problems = list(problems)


class ScriptErrors(LibraryError):
    """A script was refused for errors of its own."""


def _sentence(problem: Problem) -> str:
    return f"{problem['message']}: {problem['hint']}" if problem["hint"] else problem["message"]


def _refusal(kind: str, message: str, hint: str = "") -> LibraryError:
    nowhere = {"line": None, "column": None}
    return LibraryError(
        [{"step": "presence", "kind": kind, **nowhere, "message": message, "hint": hint}]
    )


class Scripts:
    """The scripts of all users in one database; no method looks beyond the user it is given.

    `check` is the validation pipeline: from a user and a source to a verdict.
    """

    def __init__(
        self, engine: sa.Engine, check: Callable[[str, str], Verdict], quota: Quota | None = None
    ) -> None:
        self._engine = engine
        self._check = check
        self._quota = quota or Quota()

    def register(
        self,
        user: str,
        name: str,
        source: str,
        params_schema: Sequence[Mapping[str, Any]] | None = None,
    ) -> Script:
        """Validates the source and keeps it under the name, in place of what was there."""
        verdict = self._validated(user, name, source)
        if params_schema is not None and _said(params_schema) != _said(verdict.params):
            raise _refusal(
                "value",
                "params_schema differs from the script's PARAMS: "
                + _difference(params_schema, verdict.params),
                "leave params_schema out, or give exactly what PARAMS says",
            )
        return self._store(user, {name: (source, verdict)})[0]

    def update(self, user: str, name: str, source: str) -> Script:
        """Registers a new source for a script that is there."""
        self.get(user, name)
        return self._store(user, {name: (source, self._validated(user, name, source))}, known=True)[
            0
        ]

    def delete(self, user: str, name: str) -> None:
        """Takes a script out of use; its versions can still be restored."""
        with write(self._engine) as connection:
            gone = connection.execute(sa.delete(user_indicators).where(*_key(user, name)))
            if gone.rowcount == 0:
                raise self._unknown(connection, user, name)

    def get(self, user: str, name: str) -> Script:
        """The script of that name."""
        with self._engine.connect() as connection:
            found = connection.execute(sa.select(user_indicators).where(*_key(user, name))).first()
            if found is None:
                raise self._unknown(connection, user, name)
        return _script(found)

    def find(self, user: str, name: str) -> Script | None:
        """The script of that name, or None."""
        with self._engine.connect() as connection:
            found = connection.execute(sa.select(user_indicators).where(*_key(user, name))).first()
        return None if found is None else _script(found)

    def named(self, user: str, names: Iterable[str]) -> list[Script]:
        """Those scripts of the user that have one of the names."""
        columns = user_indicators.c
        wanted = sa.select(user_indicators).where(columns.user_id == user, columns.name.in_(names))
        with self._engine.connect() as connection:
            return [_script(row) for row in connection.execute(wanted)]

    def of(self, user: str) -> list[Script]:
        """Every script of the user, by name."""
        mine = sa.select(user_indicators).where(user_indicators.c.user_id == user)
        with self._engine.connect() as connection:
            return [_script(each) for each in connection.execute(mine.order_by("name"))]

    def names(self, user: str) -> tuple[str, ...]:
        """The names of the user's scripts."""
        mine = sa.select(user_indicators.c.name).where(user_indicators.c.user_id == user)
        with self._engine.connect() as connection:
            return tuple(connection.execute(mine.order_by("name")).scalars())

    def history(self, user: str, name: str) -> Sequence[Version]:
        """The kept versions, newest first; a deleted script has its history too."""
        versions = indicator_versions.c
        kept = (
            sa.select(versions.version, versions.source, versions.source_hash, versions.created_at)
            .where(versions.user_id == user, versions.name == name)
            .order_by(versions.version.desc())
        )
        with self._engine.connect() as connection:
            found = [Version(*each) for each in connection.execute(kept)]
            if not found:
                raise self._unknown(connection, user, name)
        return found

    def restore(self, user: str, name: str, version: int) -> Script:
        """Puts an earlier version back in force, as a new version."""
        history = self.history(user, name)
        for each in history:
            if each.version == version:
                return self._store(
                    user, {name: (each.source, self._validated(user, name, each.source))}
                )[0]
        kept = ", ".join(str(each.version) for each in history)
        raise _refusal("value", f"{name!r} has no version {version}", f"kept versions: {kept}")

    def export(self, user: str) -> dict[str, Any]:
        """The whole library as one JSON value that `load` takes back."""
        return {
            "format": EXPORT_FORMAT,
            "scripts": [{"name": each.name, "source": each.source} for each in self.of(user)],
        }

    def load(self, user: str, exported: Any) -> Sequence[Script]:
        """Registers every script of an export, or none of them."""
        entries = exported.get("scripts") if isinstance(exported, Mapping) else None
        if not isinstance(entries, Sequence) or exported.get("format") != EXPORT_FORMAT:
            raise _refusal(
                "value", "this is no exported library", f'its "format" must be {EXPORT_FORMAT!r}'
            )
        batch: dict[str, tuple[str, Verdict]] = {}
        problems: list[Problem] = []
        family: type[LibraryError] = LibraryError
        for entry in entries:
            fields = entry if isinstance(entry, Mapping) else {}
            name, source = fields.get("name"), fields.get("source")
            if not isinstance(name, str) or not isinstance(source, str):
                raise _refusal("value", f"{entry!r:.80} is no script", "give name and source")
            if name in batch:
                raise _refusal("value", f"{name!r:.80} is there twice", "give each script once")
            try:
                batch[name] = (source, self._validated(user, name, source))
            except LibraryError as error:
                problems += [{**each, "name": name[:80]} for each in error.problems]
                family = type(error) if family is LibraryError else family
        if problems:
            raise family(problems)
        return self._store(user, batch)

    def _validated(self, user: str, name: str, source: str) -> Verdict:
        if not NAME.fullmatch(name):
            raise _refusal(
                "value",
                f"{name!r:.80} is not a name for an indicator",
                "use a lower-case letter, then up to 63 lower-case letters, digits or _",
            )
        verdict = self._check(user, source)
        if verdict.errors:
            raise ScriptErrors(verdict.errors)
        return verdict

    def _store(
        self, user: str, batch: Mapping[str, tuple[str, Verdict]], known: bool = False
    ) -> Sequence[Script]:
        now = time.time_ns() // 1_000_000
        stored = []
        with write(self._engine) as connection:
            for name, (source, verdict) in batch.items():
                before = connection.execute(
                    sa.select(user_indicators.c.created_at).where(*_key(user, name))
                ).scalar()
                if known and before is None:  # deleted since it was looked up
                    raise self._unknown(connection, user, name)
                script = Script(
                    user,
                    name,
                    source,
                    json.dumps({"params": list(verdict.params), "meta": dict(verdict.meta)}),
                    hashlib.sha256(source.encode()).hexdigest(),
                    now if before is None else before,
                    now,
                )
                _put(connection, script, exists=before is not None)
                stored.append(script)
            self._within_quota(connection, user)
            self._forget_long_deleted(connection, user)
            self._forget_oldest(connection, user)
        return stored

    def _within_quota(self, connection: sa.Connection, user: str) -> None:
        size = sa.func.coalesce(sa.func.sum(_bytes(connection, user_indicators.c.source)), 0)
        mine = sa.select(sa.func.count(), size).where(user_indicators.c.user_id == user)
        count, used = connection.execute(mine).one()
        if count > self._quota.scripts:
            raise _refusal(
                "size",
                f"you keep {count - 1} scripts and may keep {self._quota.scripts}",
                "delete one you no longer use",
            )
        if used > self._quota.bytes:
            raise _refusal(
                "size",
                f"your scripts would take {used} bytes of {self._quota.bytes}",
                "delete one you no longer use",
            )

    def _forget_long_deleted(self, connection: sa.Connection, user: str) -> None:
        """Keeps the history of no more deleted scripts than there may be scripts."""
        versions = indicator_versions.c
        live = sa.select(user_indicators.c.name).where(user_indicators.c.user_id == user)
        deleted = (
            sa.select(versions.name)
            .where(versions.user_id == user, versions.name.not_in(live))
            .group_by(versions.name)
            .order_by(sa.func.max(versions.created_at).desc())
            .offset(self._quota.scripts)
            .limit(self._quota.scripts)
        )
        forgotten = list(connection.execute(deleted).scalars())
        if forgotten:
            connection.execute(
                sa.delete(indicator_versions).where(
                    versions.user_id == user, versions.name.in_(forgotten)
                )
            )

    def _forget_oldest(self, connection: sa.Connection, user: str) -> None:
        """Keeps no more bytes of history than there may be; what is in force always stays.

        Versions of deleted scripts go first, then those that are oldest.
        """
        versions, size = indicator_versions.c, _bytes(connection, indicator_versions.c.source)
        mine = versions.user_id == user
        used = connection.execute(sa.select(sa.func.sum(size)).where(mine)).scalar() or 0
        if used <= self._quota.history_bytes:
            return
        kept = connection.execute(
            sa.select(versions.name, versions.version, size.label("size"))
            .where(mine)
            .order_by(versions.created_at, versions.version)
        ).all()
        live = connection.execute(
            sa.select(user_indicators.c.name).where(user_indicators.c.user_id == user)
        ).scalars()
        in_force = dict.fromkeys(live, 0)
        in_force |= {each.name: each.version for each in kept if each.name in in_force}
        for each in sorted(kept, key=lambda each: each.name in in_force):
            if used <= self._quota.history_bytes:
                return
            if in_force.get(each.name) != each.version:
                connection.execute(
                    sa.delete(indicator_versions).where(
                        mine, versions.name == each.name, versions.version == each.version
                    )
                )
                used -= each.size

    def _unknown(self, connection: sa.Connection, user: str, name: str) -> LibraryError:
        mine = sa.select(user_indicators.c.name).where(user_indicators.c.user_id == user)
        names = list(connection.execute(mine).scalars())
        near = _near(name, names)
        hint = f"near names: {', '.join(near)}" if near else "list your indicators to see them all"
        return _refusal("name", f"you have no indicator {name!r:.80}", hint)


def _near(name: str, names: Sequence[str]) -> list[str]:
    """Up to three names that resemble it.

    Comparing takes its time, so it is done with the dozen that have most of their letters in
    common: others wait meanwhile.
    """

    def letters(text: str) -> set[str]:
        return {*text, *map("".join, itertools.pairwise(text))}

    sought = letters(name[:LONGEST_NAME])
    likely = sorted(names, key=lambda each: len(sought ^ letters(each)))[:12]
    return get_close_matches(name[:LONGEST_NAME], likely, 3, 0.4)


def _bytes(connection: sa.Connection, text: sa.Column[str]) -> sa.ColumnElement[int]:
    """How many bytes a text takes."""
    if connection.dialect.name == "sqlite":  # whose `length` of a text counts characters
        return sa.func.length(sa.cast(text, sa.LargeBinary))
    return sa.func.octet_length(text)


def _key(user: str, name: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return (user_indicators.c.user_id == user, user_indicators.c.name == name)


def _put(connection: sa.Connection, script: Script, *, exists: bool) -> None:
    values = {
        "source": script.source,
        "meta_json": script.noted,
        "source_hash": script.source_hash,
        "updated_at": script.updated_at,
    }
    if exists:
        connection.execute(
            sa.update(user_indicators).where(*_key(script.user, script.name)).values(values)
        )
    else:
        key = {"user_id": script.user, "name": script.name, "created_at": script.created_at}
        connection.execute(sa.insert(user_indicators).values(values | key))
    versions = indicator_versions.c
    mine = (versions.user_id == script.user, versions.name == script.name)
    latest = connection.execute(
        sa.select(versions.version, versions.source_hash)
        .where(*mine)
        .order_by(versions.version.desc())
    ).first()
    if latest is not None and latest.source_hash == script.source_hash:
        return
    number = 1 if latest is None else latest.version + 1
    connection.execute(
        sa.insert(indicator_versions).values(
            user_id=script.user,
            name=script.name,
            version=number,
            source=script.source,
            source_hash=script.source_hash,
            created_at=script.updated_at,
        )
    )
    connection.execute(
        sa.delete(indicator_versions).where(*mine, versions.version <= number - KEPT_VERSIONS)
    )


def _script(row: Any) -> Script:
    return Script(
        row.user_id,
        row.name,
        row.source,
        row.meta_json,
        row.source_hash,
        row.created_at,
        row.updated_at,
    )


def _said(schema: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The schema without what is left open: an absent `min` and a null one say the same."""
    return [
        {key: _kind(value) for key, value in each.items() if value not in (None, "")}
        for each in schema
    ]


def _kind(value: Any) -> Any:
    """The value, and of True and False that they are: elsewhere they equal 1 and 0."""
    return {"bool": value} if isinstance(value, bool) else value


def _difference(given: Sequence[Mapping[str, Any]], declared: Sequence[Mapping[str, Any]]) -> str:
    for index, (one, other) in enumerate(zip(given, declared, strict=False)):
        if _said([one]) != _said([other]):
            return f"entry {index + 1}: {json.dumps(dict(one))} is not {json.dumps(dict(other))}"
    return f"{len(given)} entries, not {len(declared)}"
