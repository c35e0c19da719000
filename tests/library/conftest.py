"""A library on a fresh database of either kind, with the simplest pipeline that says yes or no."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from chartpact.library.database import Database, open_database
from chartpact.library.scripts import QUOTA, Scripts
from chartpact.problem import Problem


@dataclass(frozen=True)
class Verdict:
    params: list = field(default_factory=lambda: [{"name": "n", "type": "int", "default": 9}])
    meta: dict = field(default_factory=lambda: {"title": "Mine"})
    errors: list = field(default_factory=list)
    warnings: list = field(default_factory=list)


def check(_user: str, source: str) -> Verdict:
    if "good" in source:
        slow = Problem("budget", "slow", "use ta", "dry_run", 2, 3)
        return Verdict(warnings=[slow] if "slow" in source else [])
    return Verdict(errors=[Problem("syntax", "no good", "write good", "parse", 1, 1)])


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without a schema, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/new/library.db"
    return request.getfixturevalue("postgres").create_empty()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/new/library.db"
    return request.getfixturevalue("postgres").create()


@pytest.fixture(params=["sqlite", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind, for a test that leaves nothing running and keeps the schema."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/new/library.db"
    return request.getfixturevalue("postgres").reuse()


@pytest.fixture
def database(shared_url: str) -> Iterator[Database]:
    database = open_database(shared_url)
    yield database
    database.close()


@pytest.fixture
def scripts(database: Database) -> Scripts:
    return Scripts(database, check, replace(QUOTA, texts=3, bytes=1000))
