"""Pacts: an indicator's contract, its examples and its story, one folder each."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    """The contracts that come with the package."""
    return sorted(file.parent.name for file in _HERE.glob("*/contract.yaml"))


def folder(name: str) -> Path:
    """Where a pact's files are."""
    return _HERE / name
