"""What a script could do if it had broken out of the language: Python, planted in the zygote.

Only a pool that a test makes with `planted=` knows these kinds; no job can bring them along.
"""

import ctypes
import errno
import gc
import inspect
import mmap
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.clock.zones import names as zone_names
from chartpact.clock.zones import zone
from chartpact.sandbox import packing, tasks, wire
from chartpact.script.host import text

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ZYGOTE = os.getpid()
X86_64 = os.uname().machine == "x86_64"  # whose calls are made by number here and there
PAGE = mmap.PAGESIZE
GROWTH = 4 << 20
KEPT: list[Any] = []
SECRET = re.compile(rb"SECRET-[0-9a-f]{32}")
MAPS = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]

Job = Mapping[str, Any]
TASKS: dict[str, Callable[[Job, list[wire.Column]], tasks.Answer]] = {}


def kind(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kind of job: a function of the job, or of nothing, that returns the answer's document."""

    def run(job: Job, columns: list[wire.Column]) -> tasks.Answer:
        answer = function(*(job, columns)[: function.__code__.co_argcount])
        return answer if isinstance(answer, tuple) else (answer, [])

    TASKS[function.__name__] = run
    return function


def attempt(action: Callable[[], Any]) -> str:
    """What came of it: the name of the error, or that it worked."""
    try:
        return f"worked: {action()!r:.200}"
    except OSError as error:
        return f"{type(error).__name__} {error.errno}"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is the finding)
        return type(error).__name__


def called(number: int, *arguments: Any) -> int:
    """The result of a system call, by its x86-64 number; an error is raised."""
    ctypes.set_errno(0)
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *given)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def answer_view() -> memoryview:
    """The memory the answer goes to, taken from the caller's frame."""
    frame = sys._getframe()
    while "answer" not in frame.f_locals or not isinstance(frame.f_locals["answer"], memoryview):
        assert frame.f_back is not None
        frame = frame.f_back
    view: memoryview = frame.f_locals["answer"]
    return view


# --------------------------------------------------------------------------------------- honest


@kind
def echo(job: Job, columns: list[wire.Column]) -> Any:
    return dict(job), columns


@kind
def identity() -> Any:
    """What children of one zygote have in common."""
    return {"hash": hash("chartpact"), "place": id(TASKS), "zygote": ZYGOTE}


@kind
def modules() -> Any:
    return sorted(sys.modules)


@kind
def descriptors() -> Any:
    """Those that are open, where no filter forbids to ask."""
    found = [attempt(lambda: os.fstat(fd)) for fd in range(256)]  # noqa: B023
    return {
        "open": [fd for fd, each in enumerate(found) if each.startswith("worked")],
        "tried": found.count(f"OSError {errno.EBADF}"),
    }


@kind
def surroundings() -> Any:
    return {
        "environment": dict(os.environ),
        "arguments": sys.argv,
        "path": sys.path,
        "finders": len(sys.meta_path),
        "isolated": [sys.flags.isolated, sys.flags.no_site],
        "collector": [gc.isenabled(), gc.get_freeze_count()],
        "streams": [sys.stdin, sys.stdout, sys.stderr],
    }


# ------------------------------------------------------------------------------------- ends badly


@kind
def segfault() -> Any:
    ctypes.string_at(0)
    return None


@kind
def abort() -> Any:
    os.abort()


@kind
def illegal_instruction() -> Any:
    """Jumps into memory that may not be executed."""
    code = mmap.mmap(-1, 4096)
    code.write(b"\xc3" * 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    ctypes.CFUNCTYPE(None)(address)()
    return None


@kind
def deep_stack() -> Any:
    sys.setrecursionlimit(1 << 30)

    def down(n: int) -> Any:
        return sorted([n], key=lambda n: down(n + 1))

    return down(0)


@kind
def loop() -> Any:
    while True:
        pass


@kind
def sleep() -> Any:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
    return None


@kind
def stop_itself() -> Any:
    """SIGSTOP is refused by the filter; a lock nobody opens is the next best thing."""
    refused = attempt(lambda: os.kill(0, signal.SIGSTOP))
    assert not refused.startswith("worked"), refused
    return sleep()


@kind
def allocate(job: Job) -> Any:
    kept = bytearray(job["bytes"])
    return len(kept)


@kind
def hoard() -> Any:
    kept = []
    while True:
        kept.append(np.ones(1000))


@kind
def hoard_and_hide() -> Any:
    """Catches the MemoryError and goes on."""
    kept = []
    while True:
        try:
            kept.append(np.ones(1 << 17))
        except MemoryError:
            break
    return len(kept) << 20


@kind
def raises(job: Job) -> Any:
    class Nasty(BaseException):
        def __str__(self) -> str:
            raise self

        __repr__ = __str__

    raise {
        "exception": ValueError("/a/host/path"),
        "exit": SystemExit(0),
        "interrupt": KeyboardInterrupt(),
        "nasty": Nasty(),
        "memory": MemoryError(),
        "recursion": RecursionError(),
        "generator": GeneratorExit(),
    }[job["what"]]


@kind
def hooks() -> Any:
    """Errors in the handlers of errors."""

    def again(*_: Any) -> None:
        raise ValueError

    sys.excepthook = sys.unraisablehook = again
    sys.stderr = None
    sys.setprofile(again)
    raise ValueError


# ---------------------------------------------------------------------------------- answers badly


@kind
def nothing_said() -> Any:
    os._exit(0)


@kind
def garbage() -> Any:
    view = answer_view()
    view[:4096] = bytes(range(256)) * 16
    os._exit(0)


@kind
def forged(job: Job) -> Any:
    """A packet of the job's choice, byte by byte."""
    view = answer_view()
    packet = bytes.fromhex(job["packet"])
    view[: len(packet)] = packet
    os._exit(0)


@kind
def too_much(job: Job) -> Any:
    return {}, [np.zeros(job["numbers"])]


@kind
def beyond_the_end() -> Any:
    view = answer_view()
    address = ctypes.addressof(ctypes.c_char.from_buffer(view))
    ctypes.memset(address, 65, len(view) + (64 << 20))
    return None


@kind
def answer_then_loop() -> Any:
    wire.write(wire.encode({"early": True}), answer_view())
    return loop()


OWNER_DIED = 0x40000000


def notice() -> ctypes.c_uint32:
    """The word before the answer that the kernel marks when a run ends."""
    view = answer_view()
    return ctypes.c_uint32.from_address(ctypes.addressof(ctypes.c_char.from_buffer(view)) - 8)


@kind
def answer_and_feign_death() -> Any:
    wire.write(wire.encode({"early": True}), answer_view())
    notice().value |= OWNER_DIED
    return loop()


@kind
def feign_death_unanswered() -> Any:
    notice().value |= OWNER_DIED
    return loop()


@kind
def answer_but_hide_its_end() -> Any:
    """Nobody is woken: the word is another's."""
    notice().value = 1
    return {"hidden": True}


@kind
def give_its_notice_back() -> Any:
    """Punches a hole into the answer where the kernel would mark its end."""
    remove = 9
    libc.madvise(ctypes.c_void_p(ctypes.addressof(notice())), ctypes.c_size_t(PAGE), remove)
    return {"hidden": True}


@kind
def wake_for_nothing() -> Any:
    word = notice()
    while True:
        word.value ^= 1
        libc.syscall(ctypes.c_long(202), ctypes.byref(word), ctypes.c_long(1), ctypes.c_long(9))


def memory_of(name: str) -> int:
    """Where the file of this name lies that the run was given."""
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get(name), memoryview):
        assert frame.f_back is not None
        frame = frame.f_back
    return np.frombuffer(frame.f_locals[name], np.uint8).ctypes.data


@kind
def change_the_job() -> Any:
    """Writes to the job's memory, whatever Python's views of it say."""
    ctypes.memset(memory_of("job"), 0, 16)
    return None


@kind
def change_the_bars(job: Job, columns: list[wire.Column]) -> Any:
    """Makes the memory of the bars writable, which it may, and writes to its own copy of it."""
    before = columns[0].tolist()
    if job["write"]:
        address = memory_of("shared")
        first = address - address % PAGE
        assert called(10, first, columns[0].ctypes.data + 8 - first, 3) == 0
        ctypes.memset(columns[0].ctypes.data, 0, 8)
    return {"before": before, "after": columns[0].tolist()}


@kind
def exit_as_if_refused(job: Job) -> Any:
    """Ends as a process does whose hardening failed, as far as it can."""
    for send in (
        lambda: os.kill(os.getpid(), 40 + job["step"]),
        lambda: called(62, 0, 40 + job["step"]),
        lambda: called(200, 0, 40 + job["step"]),
        lambda: signal.raise_signal(40 + job["step"]),
    ):
        attempt(send)
    os._exit(job["code"])


# -------------------------------------------------------------------------------- tries to get out


@kind
def escape(job: Job) -> Any:
    """Everything at once; for each try, what came of it."""
    tcp = "127.0.0.1", job["port"]

    def connect(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> None:
        with socket.socket(family, kind) as outgoing:
            outgoing.connect(address)

    def peek(pid: int) -> None:
        """Reads memory that this process has in common with those it was forked from."""
        buffer = ctypes.create_string_buffer(16)
        local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 16)
        remote = (ctypes.c_size_t * 2)(id(TASKS), 16)
        called(310, pid, local, 1, remote, 1, 0)

    def key() -> int:
        return called(248, b"user", b"chartpact", b"secret", 6, -4)  # of this user, in any process

    tries: dict[str, Callable[[], Any]] = {
        "read a file": lambda: Path("/etc/passwd").read_text(),
        "write a file": lambda: Path(job["file"]).write_text("x"),
        "list a folder": lambda: os.listdir("/"),
        "look at a file": lambda: os.stat("/etc/passwd"),
        "remove a file": lambda: os.unlink(job["file"]),
        "read its own memory map": lambda: Path("/proc/self/maps").read_text(),
        "read the zygote's environment": lambda: Path(f"/proc/{ZYGOTE}/environ").read_text(),
        "make a memory file": lambda: os.memfd_create("x"),
        "make a pipe": os.pipe,
        "open a TCP connection": lambda: connect(socket.AF_INET, tcp),
        "send a datagram": lambda: connect(socket.AF_INET, tcp, socket.SOCK_DGRAM),
        "open an IPv6 connection": lambda: connect(socket.AF_INET6, ("::1", job["port"])),
        "open a unix socket": lambda: connect(socket.AF_UNIX, f"\0{job['local']}"),
        "open a unix socket by its path": lambda: connect(socket.AF_UNIX, job["file"]),
        "ask the kernel for its routes": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "make a socket pair": socket.socketpair,
        "fork": os.fork,
        "start a program": lambda: subprocess.check_call(["/bin/true"]),
        "replace itself": lambda: os.execv("/bin/true", ["true"]),
        "start a thread": lambda: threading.Thread(target=print).start(),
        "signal the zygote": lambda: os.kill(ZYGOTE, signal.SIGKILL),
        "signal the server": lambda: os.kill(job["server"], signal.SIGKILL),
        "signal everybody": lambda: os.kill(-1, signal.SIGTERM),
        "stop itself": lambda: signal.raise_signal(signal.SIGSTOP),
        "open the zygote's memory": lambda: Path(f"/proc/{ZYGOTE}/mem").read_bytes(),
        "hold the zygote": lambda: os.pidfd_open(ZYGOTE),
        "handle a signal": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
        "become root": lambda: os.setuid(0),
        "raise a limit": lambda: __import__("resource").setrlimit(0, (-1, -1)),
        "be nice no more": lambda: os.nice(-5),
        "map a file": lambda: mmap.mmap(0, 4096),
        "lazily import": lambda: __import__("sqlite3"),
        "read a time zone's file": lambda: Path("/usr/share/zoneinfo/UTC").read_bytes(),
        "set the clock": lambda: time.clock_settime(time.CLOCK_REALTIME, 0),
    }
    if X86_64:
        tries |= {
            "trace the zygote": lambda: called(101, 16, ZYGOTE, 0, 0),
            "read the zygote's memory": lambda: peek(ZYGOTE),
            "read the server's memory": lambda: peek(job["server"]),
            "share memory with later runs": lambda: called(29, 0x636861, 4096, 0o1666),
            "leave messages for later runs": lambda: called(68, 0x636861, 0o1666),
            "leave a message queue": lambda: called(240, b"chartpact", 0o102, 0o666, None),
            "leave a semaphore": lambda: called(64, 0x636861, 1, 0o1666),
            "leave a key": key,
            "read a key": lambda: called(249, b"user", b"chartpact", None, -4),
            "leave its namespaces": lambda: called(272, 0x10000000),
            "ask for a ring of calls": lambda: called(425, 1, (ctypes.c_uint32 * 30)()),
            "load a program into the kernel": lambda: called(321, 0, None, 0),
            "watch the host's counters": lambda: called(
                298, (ctypes.c_uint32 * 32)(), 0, -1, -1, 0
            ),
            "stop its own timer": lambda: called(226, 0),
            "outlive the zygote": lambda: called(157, 1, 0, 0, 0, 0),
        }
    wanted = job.get("tries", list(tries))
    return {name: attempt(tries[name]) for name in wanted}


@kind
def privileges() -> Any:
    held = (ctypes.c_uint32 * 6)()
    libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), held)
    followed = ctypes.c_int()
    libc.prctl(2, ctypes.byref(followed), 0, 0, 0)
    return {
        "ids": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "capabilities": sum(held),
        "no_new_privs": libc.prctl(39, 0, 0, 0, 0),
        "dumpable": libc.prctl(3, 0, 0, 0, 0),
        "follows its parent by": followed.value,
        "become root": attempt(lambda: os.setresuid(0, 0, 0)),
    }


@kind
def raw_calls(job: Job) -> Any:
    """Every system call but the allowed ones; the errno each gives."""
    errors = {}
    for number in range(job["last"] + 1):
        if number not in job["allowed"]:
            ctypes.set_errno(0)
            result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
            errors[number] = ctypes.get_errno() if result == -1 else 0
    return errors


@kind
def clocks(job: Job) -> Any:
    """Which clocks can be read: those that have a name, and those of other processes."""

    def read(clock: int) -> bool:
        now = (ctypes.c_long * 2)()
        return attempt(lambda: called(228, clock, now)).startswith("worked")

    processes = [os.getpid(), ZYGOTE, job["server"], 1, 2]
    return {
        "own": [name for name in range(16) if read(name)],
        "others": [pid for pid in processes for which in (0, 1, 2, 6) if read((~pid << 3) | which)],
    }


@kind
def locks() -> Any:
    """What came of every operation on a lock that nobody holds."""
    word = ctypes.byref(ctypes.c_int(7))
    soon = (ctypes.c_long * 2)(0, 1)

    def use(operation: int) -> str:
        return attempt(lambda: called(202, word, operation, 8, soon, None, 0))

    private = 128
    return {operation: [use(operation), use(operation | private)] for operation in range(32)}


@kind
def x32_call() -> Any:
    return libc.syscall(ctypes.c_long(0x40000000 | 39))


@kind
def executable_memory() -> Any:
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    read, write, execute, private, anonymous = 1, 2, 4, 2, 32
    plain = libc.mmap(None, 4096, read | write, private | anonymous, -1, 0)
    failed = ctypes.c_void_p(-1).value
    return {
        "plain": plain != failed,
        "executable": libc.mmap(None, 4096, read | execute, private | anonymous, -1, 0) != failed,
        "made executable": libc.mprotect(plain, 4096, read | execute) == 0,
        "of a file": libc.mmap(None, 4096, read, private, 0, 0) != failed,
        "high bits": libc.syscall(
            ctypes.c_long(9), None, 4096, ctypes.c_long(5 | 1 << 32), 34, ctypes.c_long(-1), 0
        )
        != -1,
        "of the operator's huge pages": libc.mmap(None, 1 << 21, 3, 0x40022, -1, 0) != failed,
        "far away": libc.mmap(1 << 44, 4096, read | write, private | anonymous, -1, 0) != failed,
        "moved far away": libc.syscall(
            ctypes.c_long(25), ctypes.c_void_p(plain), *map(ctypes.c_long, (4096, 4096, 3, 1 << 44))
        )
        != -1,
    }


# ------------------------------------------------------------------------- looks for others' data


def _spray(secret: str) -> list[Any]:
    texts = [f"{secret} {i}" for i in range(2000)]
    arrays = [np.frombuffer(secret.encode() * 64, np.uint8).copy() for _ in range(500)]
    return [
        texts,
        arrays,
        {text: i for i, text in enumerate(texts)},
        bytearray(secret.encode()) * 99,
    ]


@kind
def leave_a_secret(job: Job) -> Any:
    KEPT.append(_spray(job["secret"]))
    return "left"


def _readable(address: int, size: int) -> bool:
    """Asks the kernel to bring the pages in, which fails instead of killing."""
    populate_read = 22
    return libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), populate_read) == 0


def _pages(first: int, last: int) -> Iterator[bytes]:
    """What can be read there; the last mapping may have grown since, any may have shrunk."""
    block = 64 * PAGE
    while first < last:
        if _readable(first, block):
            yield ctypes.string_at(first, block)
        else:
            for page in range(first, first + block, PAGE):
                if _readable(page, PAGE):
                    yield ctypes.string_at(page, PAGE)
        first += block


@kind
def find_secrets(job: Job) -> Any:
    """Every secret in writable memory, which includes all that the zygote ever wrote."""
    own = _spray("SECRET-" + job["control"]) if job["control"] else None
    found: set[bytes] = set()
    seen = 0
    for line in MAPS:
        if line[1].startswith("rw"):
            first, last = (int(part, 16) for part in line[0].split("-"))
            before = b""
            for memory in _pages(first, last + GROWTH):
                found |= set(SECRET.findall(before[-64:] + memory))
                before = memory
                seen += len(memory)
    assert own is None or own
    return {"found": sorted(each.decode() for each in found), "seen": seen}


# ------------------------------------------------------------------------- what scripts could call


def _argument(parameter: inspect.Parameter, bars: Bars) -> Any:
    named = {
        "source": bars.close,
        "time": bars.time,
        "anchor": bars.close > bars.open,
        "condition": bars.close > bars.open,
        "cond": bars.close > bars.open,
        "spec": "0930-1600",
        "timeframe": "1h",
        "tz": "America/New_York",
        "roll": "1700",
        "slow": 12,
        "mult": 2.0,
        "precision": 2,
        "type": "Traditional",
        "b": bars.open,
        "last": bars.close,
    }
    if parameter.name in named:
        return named[parameter.name]
    if int in get_args(parameter.annotation):  # a length, which may be a series
        return 5
    kinds = {int: 5, float: 0.5, bool: False, str: "x"}
    return kinds.get(parameter.annotation, getattr(bars, parameter.name, bars.close))


@kind
def every_function(job: Job, columns: list[wire.Column]) -> Any:
    """Calls every function of ta and of text; what failed, and what had to be imported for it."""
    bars = packing.unpack_bars(job["bars"], columns)
    before = set(sys.modules)
    failed = {}
    for name, function in ta.FUNCTIONS.items():
        wanted = inspect.signature(function).parameters.values()
        given = [
            _argument(each, bars)
            for each in wanted
            if each.kind is not each.VAR_POSITIONAL and each.name != "out"
        ]
        try:
            function(*given)
        except Exception as error:  # noqa: BLE001
            failed[name] = f"{type(error).__name__}: {error}"
    calls = [
        lambda: text.number(3.14159, 2),
        lambda: text.time(1_700_000_000_000, "yyyy-MM-dd HH:mm", "Asia/Kolkata"),
        lambda: text.time(1_700_000_000_000, "%d %b %H:%M", "Nowhere/Land"),
        lambda: bars.resample("1h"),
        lambda: bars.resample("1D"),
        lambda: bars.close_time,
    ]
    outcomes = [attempt(call) for call in calls]
    zones = sum(attempt(lambda: zone(name)).startswith("worked") for name in zone_names())  # noqa: B023
    return {
        "failed": failed,
        "outcomes": outcomes,
        "zones": zones,
        "imported": sorted(set(sys.modules) - before),
    }
