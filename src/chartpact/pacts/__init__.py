"""Pacts: an indicator with the contract that reads what it draws, one folder each.

A folder holds `indicator.star`, `contract.yaml`, `indicator.pine`, `examples/` and `README.md`.
"""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def names() -> tuple[str, ...]:
    """The contracts that come with the package."""
    return _having("contract.yaml")


def drawable() -> tuple[str, ...]:
    """The pacts whose indicator can be drawn here."""
    return _having("indicator.star")


def folder(name: str) -> Path:
    """Where a pact's files are."""
    return _HERE / name


def source(name: str) -> str:
    """The script that draws what the pact's contract reads."""
    return (_HERE / name / "indicator.star").read_text(encoding="utf-8")


@cache
def _having(file: str) -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in _HERE.glob(f"*/{file}")))
