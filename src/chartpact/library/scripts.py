"""Each user's scripts: register, update, delete, list, and the way back to earlier versions."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from chartpact.catalogue import ScriptIndicator
from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError, ScriptErrors, refuse_script
from chartpact.library.schema import user_indicators
from chartpact.library.versions import (
    Version,
    add_version,
    count_bytes,
    forget_versions,
    list_versions,
)
from chartpact.params import Param
from chartpact.problem import Problem, did_you_mean
from chartpact.script import Verdict

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
EXPORT_FORMAT = "chartpact-library-1"

_COLUMNS = user_indicators.c


@dataclass(frozen=True)
class Quota:
    """What one user may keep."""

    scripts: int = 200
    bytes: int = 4 * 1024 * 1024  # of the present versions
    history_bytes: int = 32 * 1024 * 1024  # of all versions


@dataclass(frozen=True)
class Script:
    """A script of a user's."""

    user: str
    name: str
    source: str
    declared: str  # PARAMS and META as JSON, which is parsed when first needed
    source_hash: str
    created_at: int
    updated_at: int
    warnings: tuple[Problem, ...] = ()  # of a script that was stored just now

    @property
    def params(self) -> tuple[Mapping[str, Any], ...]:
        return self._declarations[0]

    @property
    def meta(self) -> Mapping[str, Any]:
        return self._declarations[1]

    @property
    def indicator(self) -> ScriptIndicator:
        """The script as an indicator, by what it declared when it was registered."""
        try:
            params = tuple(map(Param.from_json, self.params))
        except (TypeError, KeyError):  # written by another version of the program
            params = ()
        return ScriptIndicator(self.name, self.source, params, self.meta, user=self.user)

    @cached_property
    def _declarations(self) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, Any]]:
        try:
            declared = json.loads(self.declared)
            return tuple(map(dict, declared["params"])), dict(declared["meta"])
        except (ValueError, TypeError, KeyError):  # only a copy of what the source says
            return (), {}


class Scripts:
    """The scripts of all users in one database; no method looks beyond the user it is given.

    `validate` goes from a user and a source to a verdict.
    """

    def __init__(
        self,
        database: Database,
        validate: Callable[[str, str], Verdict],
        quota: Quota | None = None,
    ) -> None:
        self._database = database
        self._validate = validate
        self._quota = quota or Quota()

    def register(
        self,
        user: str,
        name: str,
        source: str,
        params_schema: Sequence[Mapping[str, Any]] | None = None,
    ) -> Script:
        """Validates the source and stores it under the name, in place of what was there."""
        verdict = self._check(user, name, source)
        if params_schema is not None and _comparable(params_schema) != _comparable(verdict.params):
            raise refuse_script(
                "value",
                "params_schema differs from the script's PARAMS: "
                + _difference(params_schema, verdict.params),
                "leave params_schema out, or give exactly what PARAMS says",
            )
        return self._store(user, {name: (source, verdict)})[0]

    def update(self, user: str, name: str, source: str) -> Script:
        """Registers a new source for a script that is there."""
        self.get(user, name)
        batch = {name: (source, self._check(user, name, source))}
        return self._store(user, batch, must_exist=True)[0]

    def delete(self, user: str, name: str) -> None:
        """Deletes a script; its versions can still be restored."""
        with self._database.write(user) as connection:
            deleted = connection.execute(sa.delete(user_indicators).where(*_key(user, name)))
            if deleted.rowcount == 0:
                raise self._unknown(connection, user, name)

    def get(self, user: str, name: str) -> Script:
        with self._database.read() as connection:
            row = connection.execute(sa.select(user_indicators).where(*_key(user, name))).first()
            if row is None:
                raise self._unknown(connection, user, name)
        return Script(*row)

    def named(self, user: str, names: Iterable[str]) -> list[Script]:
        """Those scripts of the user that have one of the names."""
        possible = [name for name in names if NAME.fullmatch(name)]
        mine = (_COLUMNS.user_id == user, _COLUMNS.name.in_(possible))
        query = sa.select(user_indicators).where(*mine)
        with self._database.read() as connection:
            return [Script(*row) for row in connection.execute(query)]

    def of(self, user: str) -> list[Script]:
        """Every script of the user, by name."""
        query = sa.select(user_indicators).where(_COLUMNS.user_id == user)
        with self._database.read() as connection:
            scripts = [Script(*row) for row in connection.execute(query)]
        return sorted(scripts, key=lambda script: script.name)  # databases sort in many ways

    def names(self, user: str) -> tuple[str, ...]:
        with self._database.read() as connection:
            return _names(connection, user)

    def history(self, user: str, name: str) -> Sequence[Version]:
        """The versions of a script, newest first; a deleted script still has them."""
        with self._database.read() as connection:
            versions = list_versions(connection, user, name) if NAME.fullmatch(name) else ()
            if not versions:
                raise self._unknown(connection, user, name)
        return versions

    def restore(self, user: str, name: str, version: int) -> Script:
        """Puts an earlier version back in force, as a new version."""
        history = self.history(user, name)
        for earlier in history:
            if earlier.version == version:
                verdict = self._check(user, name, earlier.source)
                return self._store(user, {name: (earlier.source, verdict)})[0]
        numbers = ", ".join(str(earlier.version) for earlier in history)
        message = f"{name!r} has no version {version}"
        raise refuse_script("value", message, f"kept versions: {numbers}")

    def export(self, user: str) -> dict[str, Any]:
        """The whole library as one JSON value that `load` takes back."""
        scripts = [{"name": script.name, "source": script.source} for script in self.of(user)]
        return {"format": EXPORT_FORMAT, "scripts": scripts}

    def load(self, user: str, exported: Any) -> Sequence[Script]:
        """Registers every script of an export, or none of them."""
        entries = exported.get("scripts") if isinstance(exported, Mapping) else None
        if not isinstance(entries, Sequence) or exported.get("format") != EXPORT_FORMAT:
            hint = f'its "format" must be {EXPORT_FORMAT!r}'
            raise refuse_script("value", "this is no exported library", hint)
        batch: dict[str, tuple[str, Verdict]] = {}
        problems: list[Problem] = []
        family: type[LibraryError] = LibraryError
        for entry in entries:
            fields = entry if isinstance(entry, Mapping) else {}
            name, source = fields.get("name"), fields.get("source")
            if not isinstance(name, str) or not isinstance(source, str):
                raise refuse_script("value", f"{entry!r:.80} is no script", "give name and source")
            if name in batch:
                raise refuse_script("value", f"{name!r:.80} is there twice", "give each once")
            try:
                batch[name] = (source, self._check(user, name, source))
            except LibraryError as error:
                details = {"name": name[:80]}
                problems += [replace(problem, details=details) for problem in error.problems]
                family = type(error) if family is LibraryError else family
        if problems:
            raise family(*problems)
        return self._store(user, batch)

    def _check(self, user: str, name: str, source: str) -> Verdict:
        if not NAME.fullmatch(name):
            raise refuse_script(
                "value",
                f"{name!r:.80} is not a name for an indicator",
                "use a lower-case letter, then up to 63 lower-case letters, digits or _",
            )
        verdict = self._validate(user, source)
        if verdict.errors:
            raise ScriptErrors(*verdict.errors)
        if "\0" in source:  # which PostgreSQL cannot store, whatever the verdict
            raise refuse_script("value", "a script has no NUL character", "leave it out")
        return verdict

    def _store(
        self, user: str, batch: Mapping[str, tuple[str, Verdict]], must_exist: bool = False
    ) -> Sequence[Script]:
        now = now_ms()
        scripts = []
        with self._database.write(user) as connection:
            for name, (source, verdict) in batch.items():
                created = connection.execute(
                    sa.select(_COLUMNS.created_at).where(*_key(user, name))
                ).scalar()
                if must_exist and created is None:  # deleted since it was looked up
                    raise self._unknown(connection, user, name)
                script = Script(
                    user,
                    name,
                    source,
                    json.dumps({"params": list(verdict.params), "meta": dict(verdict.meta)}),
                    hashlib.sha256(source.encode()).hexdigest(),
                    now if created is None else created,
                    now,
                    tuple(warning.at(details={"name": name}) for warning in verdict.warnings),
                )
                _write(connection, script, exists=created is not None)
                scripts.append(script)
            self._check_quota(connection, user)
            forget_versions(connection, user, self._quota.scripts, self._quota.history_bytes)
        return scripts

    def _check_quota(self, connection: sa.Connection, user: str) -> None:
        size = sa.func.coalesce(sa.func.sum(count_bytes(connection, _COLUMNS.source)), 0)
        query = sa.select(sa.func.count(), size).where(_COLUMNS.user_id == user)
        count, used = connection.execute(query).one()
        message = ""
        if count > self._quota.scripts:
            message = f"you keep {count - 1} scripts and may keep {self._quota.scripts}"
        elif used > self._quota.bytes:
            message = f"your scripts would take {used} bytes of {self._quota.bytes}"
        if message:
            raise refuse_script("size", message, "delete one you no longer use")

    def _unknown(self, connection: sa.Connection, user: str, name: str) -> LibraryError:
        hint = (
            did_you_mean(name, _names(connection, user), 3, 0.4)
            or "list your indicators to see them all"
        )
        return refuse_script("name", f"you have no indicator {name!r:.80}", hint)


def _key(user: str, name: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    # What is no name has no row; PostgreSQL would not even take a NUL.
    return (_COLUMNS.user_id == user, _COLUMNS.name == name if NAME.fullmatch(name) else sa.false())


def _names(connection: sa.Connection, user: str) -> tuple[str, ...]:
    query = sa.select(_COLUMNS.name).where(_COLUMNS.user_id == user)
    return tuple(sorted(connection.execute(query).scalars()))


def _write(connection: sa.Connection, script: Script, *, exists: bool) -> None:
    values = {
        "source": script.source,
        "meta_json": script.declared,
        "source_hash": script.source_hash,
        "updated_at": script.updated_at,
    }
    if exists:
        key = _key(script.user, script.name)
        connection.execute(sa.update(user_indicators).where(*key).values(values))
    else:
        values |= {"user_id": script.user, "name": script.name, "created_at": script.created_at}
        connection.execute(sa.insert(user_indicators).values(values))
    add_version(
        connection, script.user, script.name, script.source, script.source_hash, script.updated_at
    )


def _comparable(schema: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The schema without empty entries, and with True and False that do not equal 1 and 0."""
    return [
        {
            key: {"bool": value} if isinstance(value, bool) else value
            for key, value in entry.items()
            if value not in (None, "")
        }
        for entry in schema
    ]


def _difference(given: Sequence[Mapping[str, Any]], declared: Sequence[Mapping[str, Any]]) -> str:
    for index, (one, other) in enumerate(zip(given, declared, strict=False)):
        if _comparable([one]) != _comparable([other]):
            return f"entry {index + 1}: {json.dumps(dict(one))} is not {json.dumps(dict(other))}"
    return f"{len(given)} entries, not {len(declared)}"
