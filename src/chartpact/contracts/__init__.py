"""Indicator contracts: from what is drawn to typed state, or to violations; never to a guess.

The folders are the pipeline in its order. `language` reads a file: its YAML, the shape of its
sections, and expressions as typed nodes. `check` proves the sections and writes the contract's
code. `reading` reads one snapshot with that code. `workbench` holds the tools of authors.

>>> import chartpact as cp
>>> reading = cp.read("bias_ai", {"schema": 1, "chart": {"symbol": "ES", "timeframe": "5m"},
...                               "source": {"name": "by hand"}, "studies": []})
>>> reading.violations[0].kind
'missing'
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chartpact import pacts
from chartpact.contracts.check.contract import Contract, load, load_file
from chartpact.contracts.language.document import ContractError, refusal
from chartpact.contracts.reading import Reading, Violation, engine
from chartpact.problem import Problem
from chartpact.snapshot import Snapshot

__all__ = [
    "Contract",
    "ContractError",
    "Problem",
    "Reading",
    "Violation",
    "find",
    "load",
    "load_file",
    "read",
]


def find(contract: Contract | str | Path) -> Contract:
    """The contract that is given as such, by the name of a shipped one, or by its file."""
    if isinstance(contract, Contract):
        return contract
    if isinstance(contract, str) and contract in pacts.names():
        return load_file(pacts.folder(contract) / "contract.yaml")
    path = Path(contract)
    try:
        if path.is_dir():
            path /= "contract.yaml"
        if path.exists():
            return load_file(path)
    except OSError:  # a name that no file can have
        pass
    hint = f"shipped: {', '.join(pacts.names())}; or name a file"
    raise refusal(None, f"there is no contract {str(contract)!r:.120}", hint)


def read(
    contract: Contract | str | Path,
    snapshot: Snapshot | Mapping[str, Any] | str | Path,
    config: Mapping[str, Any] | None = None,
    profile: str | None = None,
) -> Reading:
    """What a snapshot says under a contract: a state, or the violations that forbid one.

    The contract is a name or a file, the snapshot a value, its JSON, or a file. Only bad usage
    raises: a contract that is none (`ContractError`), a snapshot that is none (`SnapshotError`), a
    config that is no mapping (`TypeError`).
    """
    if config is not None and not isinstance(config, Mapping):
        raise TypeError(f"config maps keys to values; {config!r:.60} does not")
    if profile is not None and not isinstance(profile, str):
        raise TypeError(f"a profile is a name, not {profile!r:.60}")
    return engine.read(find(contract), Snapshot.of(snapshot), config, profile)
