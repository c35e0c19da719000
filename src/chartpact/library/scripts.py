"""Each user's scripts: register, update, delete, list, and the way back to earlier versions."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from chartpact.catalogue import ScriptIndicator
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError
from chartpact.library.schema import indicator_versions, user_indicators
from chartpact.library.versioned_texts import Quota, TextKind, VersionedTexts
from chartpact.params import Param
from chartpact.problem import Problem
from chartpact.script import Verdict

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
EXPORT_FORMAT = "chartpact-library-1"

QUOTA = Quota(200, 4 * 1024 * 1024)


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


@dataclass(frozen=True)
class Version:
    """An earlier (or the present) source of a script."""

    version: int
    source: str
    source_hash: str
    created_at: int


_KIND = TextKind(
    present=user_indicators,
    versions=indicator_versions,
    number="version",
    text=Script,
    version=Version,
    noun="indicator",
    plural="scripts",
    hint="list your indicators to see them all",
    step="presence",
)


class Scripts(VersionedTexts[Script, Version]):
    """The scripts of all users in one database.

    `validate` goes from a user and a source to a verdict.
    """

    def __init__(
        self,
        database: Database,
        validate: Callable[[str, str], Verdict],
        quota: Quota = QUOTA,
    ) -> None:
        super().__init__(database, _KIND, quota)
        self._validate = validate

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
            raise self._refuse(
                "value",
                "params_schema differs from the script's PARAMS: "
                + _difference(params_schema, verdict.params),
                "leave params_schema out, or give exactly what PARAMS says",
            )
        return self._keep(user, {name: (source, verdict)})[0]

    def update(self, user: str, name: str, source: str) -> Script:
        """Registers a new source for a script that is there."""
        self.get(user, name)
        batch = {name: (source, self._check(user, name, source))}
        return self._keep(user, batch, must_exist=True)[0]

    def restore(self, user: str, name: str, version: int) -> Script:
        """Puts an earlier version back in force, as a new version."""
        source = self.get_version(user, name, version).source
        return self._keep(user, {name: (source, self._check(user, name, source))})[0]

    def export(self, user: str) -> dict[str, Any]:
        """The whole library as one JSON value that `load` takes back."""
        scripts = [{"name": script.name, "source": script.source} for script in self.of(user)]
        return {"format": EXPORT_FORMAT, "scripts": scripts}

    def load(self, user: str, exported: Any) -> Sequence[Script]:
        """Registers every script of an export, or none of them."""
        entries = exported.get("scripts") if isinstance(exported, Mapping) else None
        if not isinstance(entries, Sequence) or exported.get("format") != EXPORT_FORMAT:
            hint = f'its "format" must be {EXPORT_FORMAT!r}'
            raise self._refuse("value", "this is no exported library", hint)
        batch: dict[str, tuple[str, Verdict]] = {}
        problems: list[Problem] = []
        of_script = False
        for entry in entries:
            fields = entry if isinstance(entry, Mapping) else {}
            name, source = fields.get("name"), fields.get("source")
            if not isinstance(name, str) or not isinstance(source, str):
                raise self._refuse("value", f"{entry!r:.80} is no script", "give name and source")
            if name in batch:
                raise self._refuse("value", f"{name!r:.80} is there twice", "give each once")
            try:
                batch[name] = (source, self._check(user, name, source))
            except LibraryError as error:
                details = {"name": name[:80]}
                problems += [replace(problem, details=details) for problem in error.problems]
                of_script = of_script or error.of_script
        if problems:
            raise LibraryError(*problems, of_script=of_script)
        return self._keep(user, batch)

    def _check(self, user: str, name: str, source: str) -> Verdict:
        if not NAME.fullmatch(name):
            raise self._refuse(
                "value",
                f"{name!r:.80} is not a name for an indicator",
                "use a lower-case letter, then up to 63 lower-case letters, digits or _",
            )
        verdict = self._validate(user, source)
        if verdict.errors:
            raise LibraryError(*verdict.errors, of_script=True)
        if "\0" in source:  # which PostgreSQL cannot store, whatever the verdict
            raise self._refuse("value", "a script has no NUL character", "leave it out")
        return verdict

    def _keep(
        self, user: str, batch: Mapping[str, tuple[str, Verdict]], must_exist: bool = False
    ) -> Sequence[Script]:
        columns = {
            name: {
                "source": source,
                "meta_json": json.dumps(
                    {"params": list(verdict.params), "meta": dict(verdict.meta)}
                ),
            }
            for name, (source, verdict) in batch.items()
        }
        return [
            replace(script, warnings=_name_warnings(script.name, batch[script.name][1]))
            for script in self._store(user, columns, must_exist)
        ]


def _name_warnings(name: str, verdict: Verdict) -> tuple[Problem, ...]:
    return tuple(warning.at(details={"name": name}) for warning in verdict.warnings)


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
