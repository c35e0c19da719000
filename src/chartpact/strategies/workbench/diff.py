"""The changes between two versions of a strategy, each a patch, a minor or a major one.

Prose is a patch. What is added and decides nothing anew is minor: a config key with a default, an
output. Whatever may decide otherwise is major, for a decision is what its readers rely on.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from chartpact.contracts.workbench.diff import MAJOR, MINOR, PATCH, Change, Diff
from chartpact.strategies.strategy import Strategy, identifiers

_PROSE = {"about", "notes", "say"}
_SECTIONS = (
    "config",
    "profiles",
    "inputs",
    "windows",
    "facts",
    "blocks",
    "factors",
    "grades",
    "latches",
    "tables",
    "mirror",
    "output",
)


def diff(old: Strategy, new: Strategy) -> Diff:
    """The differences from one strategy to another."""
    was, now = (identifiers(one.file) for one in (old, new))
    reserved = new.file.reserved.model_dump()
    unreserved = tuple(
        f"{section}.{'.'.join(steps)}"
        for section, ids in was.items()
        for steps in sorted(ids - now[section])
        if not {".".join(steps), steps[0], steps[-1]} & {*reserved[section]}
    )
    return Diff(old.version, new.version, tuple(_changes(old, new)), unreserved)


def _changes(old: Strategy, new: Strategy) -> Iterator[Change]:
    left_out = {"strategy", "version", "reserved"}
    was, now = (
        one.file.model_dump(mode="json", by_alias=True, exclude=left_out) for one in (old, new)
    )
    plain_was, plain_now = _without_prose(was), _without_prose(now)
    if old.name != new.name:
        yield Change("strategy", f"{old.name} became {new.name}", MAJOR)
    for section in _SECTIONS:
        before, after = plain_was[section], plain_now[section]
        for name in before:
            if name not in after:
                yield Change(f"{section}.{name}", "removed", _level(section, gone=True))
        for name, words in after.items():
            if name not in before:
                optional = section == "config" and new.file.config[name].has_default
                level = MINOR if optional else _level(section)
                yield Change(f"{section}.{name}", "added", level)
            elif before[name] != words:
                yield Change(f"{section}.{name}", "changed", _level(section, gone=True))
    if list(old.file.grades) != list(new.file.grades):
        yield Change("grades", "reordered", MAJOR)
    if plain_was["epoch"] != plain_now["epoch"]:
        yield Change("epoch", "changed", MAJOR)
    if plain_was["never"] != plain_now["never"]:
        yield Change("never", "other combinations are proved impossible", PATCH)
    if plain_was == plain_now and was != now:
        yield Change("", "prose was reworded", PATCH)


def _level(section: str, gone: bool = False) -> str:
    if section in ("profiles", "mirror"):
        return PATCH
    if section == "output" and not gone:
        return MINOR
    return MAJOR


def _without_prose(file: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a file whose entries lost what is said about them."""
    plain = {name: section for name, section in file.items() if name not in _PROSE}
    for section in ("config", "facts", "blocks", "factors"):
        plain[section] = {
            name: {word: value for word, value in entry.items() if word not in _PROSE}
            for name, entry in file[section].items()
        }
    return plain
