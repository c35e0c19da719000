"""A chart over MCP takes the way that docs/architecture.md draws."""

import threading

import pytest
from tests.calls import follow, missed
from tests.repository.test_ways import GENERATE_CHART, ROOT
from tests.server.auth.conftest import tool_call

# A worker is an interpreter of its own, which imports this before anything else.
IN_THE_WORKER = """
import sys
sys.path.insert(0, {root!r})
from tests.calls import follow
del sys.path[0]
file = open({file!r}, "a", buffering=1)
sys.setprofile(follow(lambda name: name in {names} and print(name, file=file)))
"""


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> None:
    """Nothing is forked here: a worker is followed from its first import on."""


@pytest.mark.slow
def test_a_chart_over_mcp_takes_the_way_that_is_drawn(request, tmp_path, monkeypatch):
    called: list[str] = []
    file = tmp_path / "called"
    source = IN_THE_WORKER.format(root=str(ROOT), file=str(file), names=set(GENERATE_CHART))
    (tmp_path / "sitecustomize.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    threading.setprofile(follow(called.append))
    try:
        here = request.getfixturevalue("here")
        asked = {"symbol": "sample:es-5m", "bars": 200, "indicators": ["rsi"]}
        with here.client("ann") as ann:
            answer = ann.post("/mcp", **tool_call("generate_chart", **asked))
    finally:
        threading.setprofile(None)
    assert answer.json()["result"]["isError"] is False, answer.text[:500]
    first, last = GENERATE_CHART.index("work.worker.serve"), len(GENERATE_CHART) - 1
    assert missed([*GENERATE_CHART[:first], GENERATE_CHART[last]], called) == []
    assert missed(GENERATE_CHART[first:last], file.read_text().splitlines()) == []
