"""What code planted past the language guard still cannot do."""

import errno
import os
import secrets
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from chartpact.sandbox import scripts, wire
from chartpact.sandbox.endings import RunFailed
from chartpact.sandbox.pool import Pool
from chartpact.script import Extras, ScriptError
from chartpact.script.dry_run import dry_run_bars

from .conftest import PLANTED, Ask

_native = pytest.importorskip("chartpact._native", reason="the C extension is not built")


LOCAL = f"chartpact-{secrets.token_hex(8)}"  # one name for a machine, whose suites are many


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{LOCAL}")
        local.listen()
        yield server


def test_nothing_outside_can_be_reached(ask: Ask, listener: socket.socket, tmp_path: Path) -> None:
    file = tmp_path / "target"
    file.write_text("untouched")
    tmp_path.chmod(0o777)
    file.chmod(0o777)
    port = listener.getsockname()[1]
    findings = ask("escape", port=port, local=LOCAL, server=os.getpid(), file=str(file)).document
    assert [name for name, found in findings.items() if found.startswith("worked")] == []
    assert file.read_text() == "untouched"


def test_a_job_brings_no_kind_of_its_own() -> None:
    with Pool(1) as plain, pytest.raises(RunFailed):
        plain.run(wire.encode({"kind": "echo", "planted": str(PLANTED)}))


def test_the_environment_holds_nothing_of_the_servers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = f"SECRET-{secrets.token_hex(16)}"
    monkeypatch.setenv("DATABASE_PASSWORD", secret)
    monkeypatch.chdir(tmp_path)
    with Pool(1, planted=PLANTED) as pool:
        around = pool.run(wire.encode({"kind": "surroundings"})).document
        search = wire.encode({"kind": "find_secrets", "control": ""})
        found = pool.run(search).document["found"]
    harmless = {"LC_ALL", "TZ", "OPENBLAS_NUM_THREADS", "LD_LIBRARY_PATH"}
    tuning = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}
    assert set(around["environment"]) <= harmless | tuning
    assert around["path"] == []
    assert around["finders"] == 0
    assert around["isolated"] == [1, 1]
    assert around["streams"] == [None, None, None]
    assert found == []


def test_nothing_of_a_former_run_is_found(ask: Ask) -> None:
    for _ in range(3):
        assert ask("leave_a_secret", secret=f"SECRET-{secrets.token_hex(16)}").document == "left"
    found = ask("find_secrets", control="").document
    assert found["found"] == []
    assert found["seen"] > 10 << 20


def test_nothing_of_a_former_script_is_found(pool: Pool, ask: Ask) -> None:
    """Neither what it was compiled from nor what it was given, drew, or failed with."""
    bars = dry_run_bars(200)

    def secret() -> str:
        return f"SECRET-{secrets.token_hex(16)}"

    for ending in ("pass", f"fail('{secret()}')", "x = 1 / 0", "for i in range(10000000): pass"):
        source = (
            f"# {secret()}\n"
            f'PARAMS = [{{"name": "word", "type": "str", "default": "{secret()}"}}, '
            '{"name": "other", "type": "symbol"}, {"name": "events", "type": "calendar"}]\n'
            f'META = {{"title": "{secret()}"}}\n'
            "def compute(ohlcv, params, chart):\n"
            f'    word = "{secret()}" + params["word"]\n'
            "    print(word)\n"
            "    chart.line(ohlcv.close, title=word)\n"
            "    chart.dot(ohlcv.close > 0, ohlcv.close, label=word)\n"
            f"    {ending}\n"
        )
        named = replace(bars, symbol=secret())
        extras = Extras({"other": named}, {"events": ({"title": secret()},)})
        with suppress(ScriptError):
            scripts.run(source, named, {"word": secret()}, extras=extras, pool=pool)
    for _ in range(3):  # those that waited already, and one made later
        assert ask("find_secrets", control="").document["found"] == []


def test_the_search_for_secrets_would_find_one(ask: Ask) -> None:
    control = secrets.token_hex(16)
    found = ask("find_secrets", control=control).document["found"]
    assert f"SECRET-{control}" in found


def test_a_lazy_import_fails_without_naming_a_host_path(ask: Ask) -> None:
    tries = ["lazily import"]
    found = ask("escape", port=1, server=os.getpid(), file="/nowhere", tries=tries).document
    assert found["lazily import"] == "ModuleNotFoundError"


# ------------------------------------------------------------------------------------ the filter

ALLOWED = {name: {"x86_64": x, "aarch64": a} for name, x, a in _native.sandbox_calls()}
LAST_CALL = 480  # of any table so far
X86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are this machine's")
PROBES = [335, 336]  # Linux passes uretprobe and uprobe by every filter; outside a probe they kill


@X86_64
def test_the_kernel_refuses_every_call_but_thirteen(ask: Ask) -> None:
    assert len(ALLOWED) == 13
    allowed = [numbers["x86_64"] for numbers in ALLOWED.values()]
    errors = ask("raw_calls", allowed=allowed + PROBES, last=LAST_CALL).document
    assert set(errors.values()) == {errno.ENOSYS}
    assert len(errors) == LAST_CALL + 1 - 13 - len(PROBES)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x32 exists on x86-64 alone")
def test_a_call_of_the_x32_kind_is_death(ask: Ask) -> None:
    with pytest.raises(RunFailed, match="SIGSYS"):
        ask("x32_call")


def test_no_memory_becomes_executable_and_no_file_is_mapped(ask: Ask) -> None:
    assert ask("executable_memory").document == {
        "plain": True,
        "executable": False,
        "made executable": False,
        "of a file": False,
        "high bits": False,
        "of the operator's huge pages": False,
        "far away": False,  # each page apart from all others takes two more, which no limit counts
        "moved far away": False,
    }


@X86_64
def test_no_clock_tells_of_another_process(ask: Ask) -> None:
    """Their numbers are made of process ids: by them a run could list and watch all others."""
    found = ask("clocks", server=os.getpid()).document
    assert found["others"] == []
    assert {0, 1, 2, 3} <= set(found["own"])


@X86_64
def test_of_the_kernels_locks_only_the_plain_ones_can_be_used(ask: Ask) -> None:
    refused = f"OSError {errno.ENOSYS}"
    wait, wake, wait_bits, wake_bits = 0, 1, 9, 10
    for operation, outcomes in ask("locks").document.items():
        plain = int(operation) in (wait, wake, wait_bits, wake_bits)
        assert (refused not in outcomes) == plain, operation


ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
KILL, ALLOW = 0x80000000, 0x7FFF0000
REFUSE = 0x00050000 | errno.ENOSYS


def verdict(program: bytes, arch: int, nr: int, *args: int) -> int:
    """What a filter says to a call: classic BPF, of which it uses six instructions."""
    data = struct.pack("<IIQ6Q", nr, arch, 0, *args, *[0] * (6 - len(args)))
    code = list(struct.iter_unpack("<HBBI", program))
    accumulator = at = 0
    while True:
        op, yes, no, k = code[at]
        at += 1
        if op == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif op == 0x54:
            accumulator &= k
        elif op == 0x06:
            return k
        else:
            taken = {
                0x15: accumulator == k,
                0x35: accumulator >= k,
                0x45: bool(accumulator & k),
            }[op]
            at += yes if taken else no


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_allows_exactly_the_calls_of_its_table(machine: str) -> None:
    program, arch = _native.sandbox_filter(machine), ARCHITECTURES[machine]
    numbers = {name: each[machine] for name, each in ALLOWED.items()}
    for nr in range(1024):
        expected = ALLOW if nr in numbers.values() and nr != numbers["mmap"] else REFUSE
        assert verdict(program, arch, nr) == expected, nr


READ, WRITE, EXECUTE, PRIVATE, SHARED, ANONYMOUS, HUGE = 1, 2, 4, 2, 1, 32, 0x40000
HIGH = 1 << 32  # what the kernel cuts off, or does not look at


ARGUMENTS: list[tuple[str, tuple[int, ...], bool]] = [
    ("mmap", (0, 4096, READ | WRITE, PRIVATE | ANONYMOUS), True),
    ("mmap", (0, 4096, READ | WRITE, SHARED | ANONYMOUS), True),
    ("mmap", (0, 4096, READ, PRIVATE), False),
    ("mmap", (0, 4096, READ, PRIVATE | HIGH * ANONYMOUS), False),
    ("mmap", (0, 4096, READ | EXECUTE, PRIVATE | ANONYMOUS), False),
    ("mmap", (0, 4096, HIGH | EXECUTE, PRIVATE | ANONYMOUS), False),
    ("mmap", (0, 4096, READ, PRIVATE | ANONYMOUS | HUGE), False),
    ("mmap", (1 << 30, 4096, READ, PRIVATE | ANONYMOUS), False),
    ("mmap", (1 << 44, 4096, READ, PRIVATE | ANONYMOUS), False),
    ("mremap", (1 << 44, 4096, 8192, 0), True),
    ("mremap", (1 << 44, 4096, 8192, 1), True),
    ("mremap", (1 << 44, 4096, 8192, 3, 1 << 45), False),
    ("mremap", (1 << 44, 4096, 8192, 5), False),
    ("mprotect", (0, 4096, READ | WRITE), True),
    ("mprotect", (0, 4096, EXECUTE), False),
    ("mprotect", (0, 4096, HIGH | EXECUTE), False),
    *[("clock_gettime", (clock,), True) for clock in range(12)],
    *[("clock_gettime", (~clock & 0xFFFF_FFFF,), False) for clock in range(64)],
    ("clock_gettime", (-9 & 0xFFFF_FFFF_FFFF_FFFF,), False),
    ("clock_gettime", (1 << 31,), False),
    *[
        ("futex", (0, operation | flags), operation in (0, 1, 9, 10))
        for operation in range(16)
        for flags in (0, 128, 256, 384)
    ],
    ("futex", (0, 1 << 9), False),
    ("futex", (0, HIGH | 6), False),
]


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_looks_at_arguments(machine: str) -> None:
    program, arch = _native.sandbox_filter(machine), ARCHITECTURES[machine]
    for name, arguments, allowed in ARGUMENTS:
        found = verdict(program, arch, ALLOWED[name][machine], *arguments)
        assert found == (ALLOW if allowed else REFUSE), (name, arguments)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_kills_what_comes_from_another_architecture(machine: str) -> None:
    program = _native.sandbox_filter(machine)
    for arch in {0x40000003, *ARCHITECTURES.values()} - {ARCHITECTURES[machine]}:
        assert verdict(program, arch, ALLOWED["exit"][machine]) == KILL
    if machine == "x86_64":
        assert (
            verdict(program, ARCHITECTURES[machine], 0x40000000 | ALLOWED["brk"][machine]) == KILL
        )


def test_the_aarch64_numbers_are_the_kernel_headers() -> None:
    """Linux ships the generic table, which is aarch64's, with the headers of any machine."""
    header = Path("/usr/include/asm-generic/unistd.h")
    if not header.exists():
        pytest.skip("the kernel's headers are not installed: they come with the C compiler")
    lines = [line.split() for line in header.read_text().splitlines()]
    table = {each[1]: each[2] for each in lines if len(each) == 3 and each[0] == "#define"}
    for name, numbers in ALLOWED.items():
        number = table.get(f"__NR_{name}", "")
        if not number.isdigit():  # mmap is named after its width
            number = table[f"__NR3264_{name}"]
        assert int(number) == numbers["aarch64"], name


def test_there_is_no_filter_for_a_machine_nobody_looked_at() -> None:
    with pytest.raises(ValueError, match="riscv64"):
        _native.sandbox_filter("riscv64")


def test_landlock_denies_every_right_its_version_knows() -> None:
    ruleset, abi, files, network, scopes = _native.sandbox_landlock()
    if ruleset < 0:
        assert abi == 0
        return
    os.close(ruleset)
    rights = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    assert files & 0xFFFF == (1 << rights) - 1
    assert network & 3 == (3 if abi >= 4 else 0)
    assert scopes & 3 == (3 if abi >= 6 else 0)
