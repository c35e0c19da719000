"""Each layer holds by itself, and what is missing is named and acted on."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.effort import EXHAUSTIVE

from chartpact import sandbox, script
from chartpact.__main__ import main
from chartpact.cli import doctor
from chartpact.sandbox import host_probe, layers
from chartpact.sandbox.host_probe import Finding
from chartpact.sandbox.layers import ALL, LANDLOCK, PRIVILEGES, SECCOMP
from chartpact.sandbox.pool import Pool
from chartpact.sandbox.zygote_handle import SandboxError
from chartpact.script.dry_run import dry_run_bars

from . import hosts
from .conftest import PLANTED, Ask
from .hosts import Hosts

SOURCE = """
PARAMS = []
META = {"title": "Close"}
def compute(ohlcv, params, chart):
    chart.line(ohlcv.close)
"""


PROBE = (
    "import json; from chartpact.sandbox import host_probe\n"
    "print(json.dumps({e.name: [e.present, e.detail] for e in host_probe.probe()}))\n"
)
KILL, SETGID, SETUID = 5, 6, 7

FoundBy = Callable[..., dict[str, list[object]]]


def absent(found: dict[str, list[object]]) -> set[str]:
    return {name for name, (present, _) in found.items() if not present}


@pytest.fixture(scope="module")
def found_by() -> Iterator[FoundBy]:
    hosts = Hosts()
    yield hosts.found_by
    hosts.close()


@pytest.fixture(scope="module")
def probed() -> dict[str, Finding]:
    """What is found on this very host."""
    return {finding.name: finding for finding in host_probe.probe()}


@pytest.fixture(scope="module")
def here(probed: dict[str, Finding]) -> set[str]:
    """What this very host lacks already: Landlock, or leave to make namespaces."""
    return {name for name, finding in probed.items() if not finding.present}


def test_this_host_has_what_a_public_server_needs(probed: dict[str, Finding]) -> None:
    for name in ("seccomp", "no_new_privs", "rlimits", "kill"):
        assert probed[name].present, probed[name]
    assert "13 system calls" in probed["seccomp"].detail
    assert all(finding.detail for finding in probed.values())


@pytest.mark.slow
def test_root_that_may_not_kill_says_so_and_its_runs_end_all_the_same(found_by: FoundBy) -> None:
    if os.geteuid() != 0:  # only root can lose what only root has
        return
    found = found_by(PROBE, dropped=(KILL,))
    assert found["kill"] == [
        False,
        "this root may not kill (CAP_KILL): runs end by their own timer",
    ]
    assert found["seccomp"][0]


@pytest.mark.slow
def test_root_that_may_not_change_its_user_runs_without_that_layer(found_by: FoundBy) -> None:
    if os.geteuid() != 0:
        return
    found = found_by(PROBE, dropped=(SETUID, SETGID))
    assert found["user"] == [False, "runs stay root: this root may not change its user"]
    assert found["seccomp"][0] and found["rlimits"][0] and found["kill"][0]


X86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are this machine's")
NOT_PERMITTED = [False, "this host does not permit it"]


# Each host starts a zygote: what can be refused together is tried together, and alone with
# `make exhaustive`.
REFUSED = {
    "no_new_privs": [hosts.prctl(hosts.NO_NEW_PRIVS)],  # it cannot be left out to try the others
    "seccomp": [hosts.prctl(hosts.SECCOMP)],
    "Landlock": [hosts.LANDLOCK_RESTRICT],
    "user": [hosts.CAPSET],
    "timer": [hosts.TIMER_CREATE],
    "rlimits": [hosts.SETRLIMIT_OF_QUEUES],
}


@X86_64
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id=" and ".join(names))
        for names in (
            ["no_new_privs"],
            list(REFUSED)[1:],
            *([name] for name in list(REFUSED)[1:] if EXHAUSTIVE),
        )
    ],
)
@pytest.mark.slow
def test_a_layer_that_cannot_be_put_on_is_named(
    found_by: FoundBy, names: list[str], here: set[str]
) -> None:
    found = found_by(PROBE, *(call for name in names for call in REFUSED[name]))
    # what is not there at all is not refused
    wanted = {name for name in names if name != "Landlock" or name not in here}
    assert {name for name, each in found.items() if each == NOT_PERMITTED} == wanted


PRETENDED = {
    "seccomp": hosts.prctl(hosts.SECCOMP),
    "Landlock": hosts.LANDLOCK_RESTRICT,
    "rlimits": hosts.SETRLIMIT_OF_MEMORY,
}


@X86_64
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id=" and ".join(names))
        for names in (
            ["seccomp"],
            ["Landlock", "rlimits"],
            *([name] for name in ("Landlock", "rlimits") if EXHAUSTIVE),
        )
    ],
)
@pytest.mark.slow
def test_a_layer_that_a_host_only_pretends_to_have_is_missing(
    found_by: FoundBy, names: list[str]
) -> None:
    found = found_by(PROBE, *(replace(PRETENDED[name], error=0) for name in names))
    assert not any(found[name][0] for name in names)
    # and nothing runs without seccomp
    assert (found["seccomp"] == NOT_PERMITTED) == ("seccomp" in names)


# What a host can do without, and what it is told then.
EXTRAS = {
    "Landlock": ([hosts.LANDLOCK_CREATE], {"Landlock", "Landlock scopes"}),
    "yielding": ([hosts.SETPRIORITY], set[str]()),
    "the kill": ([hosts.PIDFD_SIGNAL], {"kill"}),
}


@X86_64
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id=" and ".join(names))
        for names in (list(EXTRAS), *([name] for name in EXTRAS if EXHAUSTIVE))
    ],
)
@pytest.mark.slow
def test_a_host_without_an_extra_runs_scripts_and_is_told_what_it_lacks(
    found_by: FoundBy, names: list[str], here: set[str]
) -> None:
    found = found_by(PROBE, *(call for name in names for call in EXTRAS[name][0]))
    assert absent(found) == here.union(*(EXTRAS[name][1] for name in names))


@X86_64
def test_a_host_that_cannot_limit_a_process_has_no_sandbox(found_by: FoundBy) -> None:
    found = found_by(PROBE, hosts.SETRLIMIT)
    assert list(found) == ["sandbox"]
    assert not found["sandbox"][0]


@X86_64
@pytest.mark.slow
def test_children_that_die_before_their_job_are_not_made_for_ever(found_by: FoundBy) -> None:
    """What a child needs before it has a job is refused: here, to follow its parent into death."""
    found = found_by(PROBE, hosts.prctl(hosts.PDEATHSIG))
    assert list(found) == ["sandbox"]


@X86_64
@pytest.mark.slow
def test_a_user_namespace_that_refuses_its_owner_is_not_entered(
    found_by: FoundBy, here: set[str]
) -> None:
    """As AppArmor does on some hosts: the zygote would be nobody, and there is no way back."""
    if os.geteuid() != 0:
        return
    found = found_by(PROBE, hosts.UNSHARE_AS_ROOT, hosts.WRITE_USER_MAP)
    assert found["namespaces"] == [False, "not permitted here; they are an extra"]
    assert absent(found) == here | {"namespaces"}


WITHOUT_FILTER = f"""
import json
from pathlib import Path
from chartpact.sandbox import layers, wire
from chartpact.sandbox.endings import RunBounds
from chartpact.sandbox.pool import Pool
allowance = RunBounds(wall_ms=60_000, layers=layers.ALL & ~layers.SECCOMP)
with Pool(1, planted=Path({str(PLANTED)!r})) as pool:
    print(json.dumps(pool.run(wire.encode(dict(kind="descriptors")), allowance).document))
"""


@X86_64
def test_without_close_range_descriptors_are_closed_one_by_one(found_by: FoundBy) -> None:
    assert found_by(WITHOUT_FILTER, hosts.CLOSE_RANGE) == {"open": [], "tried": 256}


def told_by_doctor(monkeypatch: pytest.MonkeyPatch, *found: Finding) -> dict[str, str]:
    monkeypatch.setattr(host_probe, "probe", lambda: list(found))
    return dict(doctor.findings())


def test_doctor_says_whether_scripts_run_and_what_a_public_server_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = Finding("rlimits", True, "64 MB")
    missing = Finding("Landlock", False, "not here")
    refused = Finding("seccomp", False, "not permitted", refused=True)
    extra = Finding("namespaces", False, "an extra", needed=False)
    told = told_by_doctor(monkeypatch, good, extra)
    assert "every layer a public server needs" in told["sandbox"]
    assert told["  namespaces"] == "without: an extra"
    told = told_by_doctor(monkeypatch, good, missing)
    assert told["sandbox"] == "scripts run, but a server for others needs Landlock"
    assert told["  Landlock"] == "MISSING: not here"
    told = told_by_doctor(monkeypatch, refused, missing)
    assert told["sandbox"] == "no scripts: they are not run without seccomp"
    told = told_by_doctor(monkeypatch, Finding("sandbox", False, "it did not start"))
    assert told["sandbox"] == "no scripts: it did not start"


OUTSIDE = ("read a file", "write a file", "list a folder", "open a TCP connection", "fork")
OTHERS = ("signal the zygote", "signal the server", "open the zygote's memory", "hold the zygote")
if os.uname().machine == "x86_64":
    OTHERS += ("trace the zygote", "read the zygote's memory", "read the server's memory")
INSIDE = ("make a pipe", "make a memory file", "start a program", "start a thread", "become root")


def test_with_the_filter_lost_the_other_layers_still_hold(
    ask: Ask, tmp_path: Path, probed: dict[str, Finding]
) -> None:
    file = tmp_path / "target"
    file.write_text("untouched")
    file.chmod(0o666)
    tmp_path.chmod(0o777)
    wanted = [*OUTSIDE, *INSIDE, *OTHERS, "be nice no more"]
    job = {"port": 9, "server": os.getpid(), "file": str(file), "tries": wanted}
    findings = ask("escape", layers=ALL & ~SECCOMP, **job).document
    if os.geteuid() != 0 and not probed["Landlock scopes"].present:
        findings = {name: each for name, each in findings.items() if "signal" not in name}
    assert [name for name, each in findings.items() if each.startswith("worked")] == []
    assert file.read_text() == "untouched"


def test_landlock_alone_keeps_files_and_connections_away(pool: Pool, ask: Ask) -> None:
    abi = pool.zygote().report["landlock"]["abi"]
    job = {"port": 9, "server": os.getpid(), "file": "/x", "tries": OUTSIDE[:4]}
    found = ask("escape", layers=LANDLOCK, **job).document
    if abi:
        assert found["read a file"] == found["list a folder"] == "PermissionError 13"
    if abi >= 4:
        assert found["open a TCP connection"] == "PermissionError 13"


def test_privileges_are_gone_for_good(ask: Ask) -> None:
    found = ask("privileges", layers=PRIVILEGES).document
    assert found["capabilities"] == 0
    assert found["no_new_privs"] == 1
    assert found["dumpable"] == 0  # or its memory goes to a program that collects crashes
    assert found["follows its parent by"] == signal.SIGKILL  # which a change of user clears
    if os.geteuid() == 0:
        assert set(found["ids"]) == {65534}
        assert found["groups"] == []
        assert found["become root"].startswith("PermissionError")


PRIVILEGED = f"""
import json, os
from pathlib import Path
from chartpact.sandbox import layers, wire
from chartpact.sandbox.endings import RunBounds
from chartpact.sandbox.pool import Pool
os.setgroups([0, 27, 12345])
allowance = RunBounds(wall_ms=60_000, layers=layers.PRIVILEGES)
with Pool(1, planted=Path({str(PLANTED)!r})) as pool:
    print(json.dumps(pool.run(wire.encode(dict(kind="privileges")), allowance).document))
"""


def test_a_run_is_in_none_of_the_servers_groups(found_by: FoundBy) -> None:
    if os.geteuid() != 0:
        return
    found = found_by(PRIVILEGED)
    assert found["groups"] == []
    assert found["capabilities"] == 0


def test_what_needs_no_privilege_is_done_for_every_user(ask: Ask) -> None:
    """A change of user makes a process undumpable by itself, and most servers are not root."""
    found = ask("privileges", layers=0).document
    assert found["dumpable"] == 0
    assert found["no_new_privs"] == 1
    assert found["follows its parent by"] == signal.SIGKILL


# ------------------------------------------------------------------------------- public addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.8.8.8"])
def test_a_loopback_server_needs_no_probe(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr(host_probe, "probe", lambda: pytest.fail("it was probed"))
    host_probe.require_for_public_bind(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "no.such.host.invalid"])
def test_a_public_server_needs_the_layers_or_the_operators_word(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    found = [Finding("seccomp", True, ""), Finding("Landlock", False, "no")]
    monkeypatch.setattr(host_probe, "probe", lambda: [*found, Finding("user", False, "no", False)])
    with pytest.raises(SandboxError, match="lacks Landlock to keep"):
        host_probe.require_for_public_bind(host)
    host_probe.require_for_public_bind(host, anyway=True)
    monkeypatch.setattr(host_probe, "probe", lambda: [Finding("seccomp", True, "")])
    host_probe.require_for_public_bind(host)


def test_serve_refuses_a_public_address_without_the_layers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHARTPACT_PUBLIC_URL", "https://charts.example")
    monkeypatch.setattr(host_probe, "probe", lambda: [Finding("Landlock", False, "no")])
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "lacks Landlock" in (told := capsys.readouterr().err) and "--unsandboxed" in told
    monkeypatch.setattr("chartpact.server.command._listen", lambda _: pytest.exit("it got as far"))
    with pytest.raises(pytest.exit.Exception, match="as far"):
        main(["serve", "--host", "0.0.0.0", "--port", "0", "--unsandboxed"])


# ------------------------------------------------------------------------------- without a sandbox


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    with Pool() as pool:
        yield pool


def test_without_linux_scripts_are_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, elsewhere: Pool
) -> None:
    monkeypatch.delenv(layers.TRUST, raising=False)
    with pytest.raises(script.ScriptError, match="this is Darwin") as refused:
        sandbox.run(SOURCE, dry_run_bars(), pool=elsewhere)
    assert refused.value.kind == "crash"
    assert f"{layers.TRUST}=1" in refused.value.hint
    assert host_probe.probe() == [Finding("sandbox", False, layers.unavailable())]
    verdict = sandbox.validate(SOURCE + "# not seen before\n", pool=elsewhere)
    assert [(e.step, e.kind) for e in verdict.errors] == [("check", "crash")]


def test_without_linux_trusted_scripts_run_in_this_process(
    monkeypatch: pytest.MonkeyPatch, elsewhere: Pool
) -> None:
    monkeypatch.setenv(layers.TRUST, "1")
    bars = dry_run_bars()
    result = sandbox.run(SOURCE + "# trusted\n", bars, pool=elsewhere)
    assert result.scene.plots[0].to_json()["values"] == bars.close.tolist()
    assert not sandbox.inspect("x = (", pool=elsewhere).meta
    assert sandbox.inspect("x = (", pool=elsewhere).errors


ELSEWHERE = """
import os, socket, sys
from chartpact import sandbox, script
from chartpact.script.dry_run import dry_run_bars
assert "chartpact.sandbox.scripts" not in sys.modules
sys.modules["fcntl"] = sys.modules["resource"] = None
sys.platform = "win32"
del os.register_at_fork, socket.CMSG_SPACE, os.pidfd_open, os.memfd_create
try:
    sandbox.run(sys.argv[1], dry_run_bars())
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


WITHOUT_EXTENSION = """
import sys
sys.modules["chartpact._native"] = None
from chartpact import sandbox, script
from chartpact.sandbox import host_probe
from chartpact.script.dry_run import dry_run_bars
try:
    sandbox.run(sys.argv[1], dry_run_bars())
except script.ScriptError as error:
    print(error.kind, error.message, [finding.detail for finding in host_probe.probe()])
"""


def test_without_the_extension_scripts_are_refused_and_not_a_crash() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_EXTENSION, SOURCE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, layers.TRUST: "0"},
    )
    assert done.stdout.count("the C extension is not built") == 2, done.stderr


def test_with_a_sandbox_trust_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(layers.TRUST, "1")
    monkeypatch.setattr(
        "chartpact.sandbox.scripts.execute", lambda *_, **__: pytest.fail("in this process")
    )
    sandbox.run(SOURCE, dry_run_bars())


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("chartpact.sandbox.layers.native", None, "C extension is not built"),
        ("platform.machine", lambda: "riscv64", "no system call filter for riscv64"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, reason: str
) -> None:
    monkeypatch.setattr(name, value)
    assert reason in layers.unavailable()


def test_an_old_container_engine_that_answers_eperm_is_understood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "pidfd_open", refused)
    assert "lacks pidfd" in layers.unavailable()


def test_the_threat_model_names_every_call_and_every_layer(probed: dict[str, Finding]) -> None:
    from chartpact import _native

    page = Path(__file__).parents[2].joinpath("docs", "threat-model.md").read_text()
    for name, _, _ in _native.sandbox_calls():
        assert f"`{name}`" in page
    words = {"rlimits": "resource limits", "user": "user id"}
    for name in probed:
        assert words.get(name, name).lower() in page.lower(), name
    assert layers.TRUST in page
