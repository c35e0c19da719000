"""The tests of isolation can fail: each leak planted here is found by the routes that have it.

The server is one in this very process, whose library can be made to forget whose it is.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from tests.server import test_isolation as isolation
from tests.server.conftest import Running
from tests.server.test_isolation import ANNS, NOBODYS

from chartpact.library import scripts as library
from chartpact.library import versioned_texts
from chartpact.library.schema import user_bars, user_indicators
from chartpact.library.scripts import Scripts
from chartpact.library.uploads import Uploads

pytestmark = pytest.mark.slow


@pytest.fixture
def both(here: Running) -> Iterator[tuple[httpx2.Client, httpx2.Client]]:
    with here.client("ann") as ann, here.client("bob") as bob:
        isolation.keep(ann, bob)
        yield ann, bob


def anybodys_named_scripts(self: Scripts, _user: str, names: Iterable[str]) -> dict[str, Any]:
    with self._database.read() as connection:
        named = sa.select(user_indicators).where(user_indicators.c.name.in_(names))
        return {row.name: library.Script(*row) for row in connection.execute(named)}


def everybodys_scripts(self: Scripts, _user: str) -> list[Any]:
    with self._database.read() as connection:
        return [library.Script(*each) for each in connection.execute(sa.select(user_indicators))]


def near_names_of_all(self: Scripts, connection: sa.Connection, _user: str, name: str) -> Any:
    names = list(connection.execute(sa.select(user_indicators.c.name)).scalars())
    near = [each for each in names if each[:10] == name[:10]]
    return self._refuse("name", f"you have no indicator {name!r}", f"near: {near}")


def names_of_all(self: Scripts, _user: str) -> tuple[str, ...]:
    with self._database.read() as connection:
        return tuple(connection.execute(sa.select(user_indicators.c.name)).scalars())


def anybodys_bars(self: Uploads, _user: str, name: str) -> Any:
    with self._database.read() as connection:
        owner = sa.select(user_bars.c.user_id).where(user_bars.c.name == name)
        found = connection.execute(owner).scalar()
    return None if found is None else UPLOADS_GET(self, found, name)


def rows_of_anybody(table: sa.Table, _user: str, *names: str) -> tuple[Any, ...]:
    return (table.c.name.in_(names),)


UPLOADS_GET = Uploads.get

LEAKS = {
    (Scripts, "find"): (anybodys_named_scripts, {"post /api/v1/charts", "generate_chart"}),
    (Scripts, "of"): (
        everybodys_scripts,
        {"get /api/v1/indicators", "get /api/v1/my/indicators", "get /api/v1/my/library",
         "list_indicators", "list_my_indicators"},
    ),
    (Scripts, "_unknown"): (
        near_names_of_all,
        {"get /api/v1/my/indicators/{name}", "delete /api/v1/my/indicators/{name}",
         "update_indicator", "delete_indicator", "get_indicator_source", "indicator://{name}"},
    ),
    (Scripts, "names"): (names_of_all, {"post /api/v1/charts", "generate_chart"}),
    (Uploads, "get"): (
        anybodys_bars,
        {"post /api/v1/charts", "post /api/v1/charts/image", "get /api/v1/my/bars/{name}",
         "generate_chart"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("where", "what"), LEAKS, ids=lambda each: getattr(each, "__name__", each))
def test_a_planted_leak_is_found_by_every_way_in_that_has_it(here, both, monkeypatch, where, what):
    planted, leaking = LEAKS[where, what]
    _, bob = both

    def told(way_in: str, names: isolation.Names) -> Any:
        if "://" in way_in:
            return isolation.by_resource(here, way_in, names)
        if "/" in way_in:
            return isolation.over_rest(bob, way_in, names)
        return isolation.by_tool(here, bob, way_in, names)

    def differs(way_in: str) -> bool:
        shown = told(way_in, ANNS)
        return bool(isolation.hidden(shown)) or shown != told(way_in, NOBODYS)

    assert {way_in for way_in in leaking if differs(way_in)} == set()
    monkeypatch.setattr(where, what, planted)
    assert {way_in for way_in in leaking if differs(way_in)} == leaking


def test_a_deletion_that_forgets_whose_script_it_is_does_not_go_unnoticed(both, monkeypatch):
    ann, bob = both
    before = isolation.what_ann_has(ann)
    monkeypatch.setattr(versioned_texts, "key", rows_of_anybody)
    bob.delete(f"/api/v1/my/indicators/{ANNS.script}")
    monkeypatch.undo()
    with pytest.raises(AssertionError):
        assert isolation.what_ann_has(ann) == before
