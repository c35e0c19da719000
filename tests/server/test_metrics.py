"""The counters for monitoring: what each request counts as, and that operators can look them up."""

import re
from pathlib import Path

import pytest

from chartpact.server.front import OPEN, WATCHED
from chartpact.server.metrics import DOORS, OUTCOMES, Metrics

OPERATING = Path(__file__).resolve().parents[2] / "docs" / "operating.md"


def door_of(path: str) -> str:
    metrics = Metrics()
    metrics.count_request(path, 200, 0.01)
    [door] = re.findall(r'door="(\w+)",status="2xx"} 1\n', metrics.text())
    return door


@pytest.mark.parametrize(
    ("path", "door"),
    [
        ("/mcp", "mcp"),
        ("/api/v1/symbols", "rest"),
        ("/chart.png", "rest"),
        ("/sign-in", "identity"),
        ("/.well-known/oauth-authorization-server", "identity"),
        ("/docs/library.md", "page"),
        ("/static/app.js", "page"),
        *((path, "watch" if path in WATCHED else "page") for path in OPEN),
    ],
)
def test_a_request_is_counted_under_the_door_that_it_came_to(path, door):
    assert door_of(path) == door
    assert door in DOORS


def test_every_series_is_explained_to_operators_and_no_other():
    told = Metrics().text()
    page = OPERATING.read_text()
    named = set(re.findall(r"`(chartpact_\w+)", page))
    assert named == set(re.findall(r"^# TYPE (\w+)", told, re.M))
    assert set(re.findall(r'outcome="(\w+)"', told)) == set(OUTCOMES)
