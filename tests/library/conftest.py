"""A library on a fresh file, with the simplest pipeline that can say yes or no."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from chartpact.library import Quota, Scripts, open_database


@dataclass(frozen=True)
class Verdict:
    params: list = field(default_factory=lambda: [{"name": "n", "type": "int", "default": 9}])
    meta: dict = field(default_factory=lambda: {"title": "Mine"})
    errors: list = field(default_factory=list)


def check(_user: str, source: str) -> Verdict:
    if "good" in source:
        return Verdict()
    problem = {"step": "parse", "kind": "syntax", "line": 1, "column": 1}
    return Verdict(errors=[problem | {"message": "no good", "hint": "write good"}])


@pytest.fixture
def engine(tmp_path: Path) -> sa.Engine:
    engine = open_database(f"sqlite:///{tmp_path}/new/library.db")
    yield engine
    engine.dispose()


@pytest.fixture
def scripts(engine: sa.Engine) -> Scripts:
    return Scripts(engine, check, Quota(scripts=3, bytes=1000))
