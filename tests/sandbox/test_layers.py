"""Each layer holds by itself, and what is missing is named and acted on."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chartpact import script
from chartpact.script.run import dry_run_bars
from chartpact.script.sandbox import layers, wire
from chartpact.script.sandbox.layers import ALL, LANDLOCK, PRIVILEGES, SECCOMP, Exposed, Finding
from chartpact.script.sandbox.pool import Pool

from .conftest import PLANTED

SOURCE = """
PARAMS = []
META = {"title": "Close"}
def compute(ohlcv, params, chart):
    chart.line(ohlcv.close)
"""


def found_by(code: str, *dropped: int) -> dict[str, list[object]]:
    """What a probe finds in a process whose capabilities lack these, by the layers' names."""

    def drop() -> None:
        for capability in dropped:
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP

    done = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=drop, capture_output=True, text=True, check=True
    )
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


PROBE = (
    "import json; from chartpact.script.sandbox import layers\n"
    "print(json.dumps({e.name: [e.present, e.detail] for e in layers.probe()}))\n"
)
KILL, SETGID, SETUID = 5, 6, 7


def test_this_host_has_what_a_public_server_needs() -> None:
    findings = {each.name: each for each in layers.probe()}
    for name in ("seccomp", "no_new_privs", "rlimits", "kill"):
        assert findings[name].present, findings[name]
    assert "13 system calls" in findings["seccomp"].detail
    assert all(each.detail for each in findings.values())


def test_root_that_may_not_kill_says_so_and_its_runs_end_all_the_same() -> None:
    if os.geteuid() != 0:  # only root can lose what only root has
        return
    found = found_by(PROBE, KILL)
    assert found["kill"] == [
        False,
        "this root may not kill (CAP_KILL): runs end by their own timer",
    ]
    assert found["seccomp"][0]


def test_root_that_may_not_change_its_user_runs_without_that_layer() -> None:
    if os.geteuid() != 0:
        return
    found = found_by(PROBE, SETUID, SETGID)
    assert found["user"] == [False, "runs stay root: this root may not change its user"]
    assert found["seccomp"][0] and found["rlimits"][0] and found["kill"][0]


OUTSIDE = ("read a file", "write a file", "list a folder", "open a TCP connection", "fork")
INSIDE = ("make a pipe", "make a memory file", "start a program", "start a thread", "become root")


@pytest.fixture(scope="module")
def without_filter() -> Iterator[Pool]:
    with Pool(1, planted=PLANTED, layers=ALL & ~SECCOMP) as pool:
        yield pool


def test_with_the_filter_lost_the_other_layers_still_hold(
    without_filter: Pool, tmp_path: Path
) -> None:
    file = tmp_path / "target"
    file.write_text("untouched")
    file.chmod(0o666)
    tmp_path.chmod(0o777)
    wanted = [*OUTSIDE, *INSIDE, "signal the zygote", "signal the server", "be nice no more"]
    job = {"kind": "escape", "port": 9, "server": os.getpid(), "file": str(file), "tries": wanted}
    findings = without_filter.run(wire.encode(job)).document
    if os.geteuid() != 0 and not layers.probe()[3].present:
        findings = {name: each for name, each in findings.items() if "signal" not in name}
    assert [name for name, each in findings.items() if each.startswith("worked")] == []
    assert file.read_text() == "untouched"


def test_landlock_alone_keeps_files_and_connections_away() -> None:
    with Pool(1, planted=PLANTED, layers=LANDLOCK) as pool:
        abi = pool.zygote().report["landlock"]["abi"]
        job = {
            "kind": "escape",
            "port": 9,
            "server": os.getpid(),
            "file": "/x",
            "tries": OUTSIDE[:4],
        }
        found = pool.run(wire.encode(job)).document
    if abi:
        assert found["read a file"] == found["list a folder"] == "PermissionError 13"
    if abi >= 4:
        assert found["open a TCP connection"] == "PermissionError 13"


def test_privileges_are_gone_for_good() -> None:
    with Pool(1, planted=PLANTED, layers=PRIVILEGES) as pool:
        found = pool.run(wire.encode({"kind": "privileges"})).document
    assert found["capabilities"] == 0
    assert found["no_new_privs"] == 1
    if os.geteuid() == 0:
        assert set(found["ids"]) == {65534}
        assert found["groups"] == []
        assert found["become root"].startswith("PermissionError")


# ------------------------------------------------------------------------------- public addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.8.8.8"])
def test_a_loopback_server_needs_no_probe(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr(layers, "probe", lambda: pytest.fail("it was probed"))
    layers.require_for_public_bind(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "no.such.host.invalid"])
def test_a_public_server_needs_the_layers_or_the_operators_word(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    found = [Finding("seccomp", True, ""), Finding("Landlock", False, "no")]
    monkeypatch.setattr(layers, "probe", lambda: [*found, Finding("user", False, "no", False)])
    with pytest.raises(Exposed, match="lacks Landlock to keep"):
        layers.require_for_public_bind(host)
    layers.require_for_public_bind(host, anyway=True)
    monkeypatch.setattr(layers, "probe", lambda: [Finding("seccomp", True, "")])
    layers.require_for_public_bind(host)


# ------------------------------------------------------------------------------- without a sandbox


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    layers.unavailable.cache_clear()
    yield
    layers.unavailable.cache_clear()


@pytest.mark.usefixtures("elsewhere")
def test_without_linux_scripts_are_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(layers.TRUST, raising=False)
    with pytest.raises(script.ScriptError, match="this is Darwin") as refused:
        script.run(SOURCE, dry_run_bars())
    assert refused.value.kind == "crash"
    assert f"{layers.TRUST}=1" in refused.value.hint
    assert layers.probe() == [Finding("sandbox", False, layers.unavailable())]
    verdict = script.check(SOURCE + "# not seen before\n")
    assert [(e["step"], e["kind"]) for e in verdict.errors] == [("check", "crash")]


@pytest.mark.usefixtures("elsewhere")
def test_without_linux_trusted_scripts_run_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(layers.TRUST, "1")
    bars = dry_run_bars()
    result = script.run(SOURCE + "# trusted\n", bars)
    assert result.scene.plots[0].to_json()["values"] == bars.close.tolist()
    assert not script.inspect("x = (").meta
    assert script.inspect("x = (").errors


ELSEWHERE = """
import os, socket, sys
from chartpact import script
from chartpact.script.run import dry_run_bars
assert "chartpact.script.sandbox" not in sys.modules
sys.modules["fcntl"] = sys.modules["resource"] = None
sys.platform = "win32"
del os.register_at_fork, socket.CMSG_SPACE, os.pidfd_open, os.memfd_create
try:
    script.run(sys.argv[1], dry_run_bars())
except script.ScriptError as error:
    print(error.kind, error.message)
"""


def test_where_nothing_of_unix_is_left_the_refusal_is_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, SOURCE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, layers.TRUST: "0"},
    )
    assert done.stdout.startswith("crash scripts cannot be run safely here"), done.stderr


def test_with_a_sandbox_trust_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(layers.TRUST, "1")
    monkeypatch.setattr(
        "chartpact.script.sandbox.scripts.execute", lambda *_, **__: pytest.fail("in this process")
    )
    script.run(SOURCE, dry_run_bars())


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("chartpact.script.sandbox.layers._native", None, "C extension is not built"),
        ("platform.machine", lambda: "riscv64", "no system call filter for riscv64"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, reason: str
) -> None:
    monkeypatch.setattr(name, value)
    layers.unavailable.cache_clear()
    try:
        assert reason in layers.unavailable()
    finally:
        monkeypatch.undo()
        layers.unavailable.cache_clear()


def test_an_old_container_engine_that_answers_eperm_is_understood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "pidfd_open", refused)
    layers.unavailable.cache_clear()
    try:
        assert "lacks pidfd" in layers.unavailable()
    finally:
        monkeypatch.undo()
        layers.unavailable.cache_clear()


def test_the_threat_model_names_every_call_and_every_layer() -> None:
    from chartpact import _native

    page = Path(__file__).parents[2].joinpath("docs", "threat-model.md").read_text()
    for name, _, _ in _native.sandbox_calls():
        assert f"`{name}`" in page
    for each in layers.probe():
        words = {"rlimits": "resource limits", "kill": "kill", "user": "user id"}
        assert words.get(each.name, each.name).lower() in page.lower(), each.name
    assert layers.TRUST in page
