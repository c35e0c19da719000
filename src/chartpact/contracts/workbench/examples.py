"""Examples beside a contract: a snapshot and what must be read from it, or why it is refused."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartpact.contracts.engine import Contract, read
from chartpact.contracts.reading import Reading
from chartpact.snapshot import Snapshot, SnapshotError, parse_json

_KEYS = {"about", "snapshot", "config", "profile", "expect"}


class ExampleError(ValueError):
    """A file that is no example."""


@dataclass(frozen=True)
class Example:
    """A snapshot, how it is read, and what is expected."""

    name: str
    snapshot: Snapshot
    expect: Mapping[str, Any]
    config: Mapping[str, Any] | None = None
    profile: str | None = None
    about: str = ""

    @property
    def conforming(self) -> bool:
        return "state" in self.expect

    def read(self, contract: Contract) -> Reading:
        return read(contract, self.snapshot, self.config, self.profile)


def load(path: Path) -> Example:
    """The example in a file: `{about?, snapshot, config?, profile?, expect}`."""
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or not {"snapshot", "expect"} <= set(data) <= _KEYS:
            raise ExampleError(f"{path.name}: an example has snapshot and expect, beside {_KEYS}")
        expect = data["expect"]
        if not isinstance(expect, dict) or len(expect.keys() & {"state", "violations"}) != 1:
            raise ExampleError(f"{path.name}: expect holds either a state or violations")
        return Example(
            path.stem,
            Snapshot(data["snapshot"]),
            expect,
            data.get("config"),
            data.get("profile"),
            str(data.get("about", "")),
        )
    except SnapshotError as error:
        raise ExampleError(f"{path.name}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ExampleError(f"{path.name}: {error}") from None


def load_all(folder: Path) -> list[Example]:
    """Every example in a folder, by name."""
    return [load(path) for path in sorted(folder.glob("*.json"))]


def difference(example: Example, reading: Reading) -> str | None:
    """How a reading differs from what is expected, or nothing."""
    if example.conforming:
        if not reading.ok:
            return "refused: " + "; ".join(map(str, reading.violations[:3]))
        if reading.state != example.expect["state"]:
            return f"read {json.dumps(reading.state)}, not {json.dumps(example.expect['state'])}"
        return None
    wanted = Counter((v["kind"], v["path"]) for v in example.expect["violations"])
    found = Counter((v.kind, v.path) for v in reading.violations)
    if wanted == found:
        return None
    if reading.ok:
        return f"read {json.dumps(reading.state)}, though it should be refused"
    lacking = [f"{kind} at {path}" for kind, path in (wanted - found).elements()]
    extra = [f"{kind} at {path}" for kind, path in (found - wanted).elements()]
    return f"not found: {', '.join(lacking) or 'none'}; found besides: {', '.join(extra) or 'none'}"
