"""A process that has imported what servers and their workers need, and forks them.

A fork takes a tenth of the processor time of an exec, after which everything is imported anew. The
processes of a test run share one nursery; it has one thread, as a fork copies only one.
What a server and a worker do from their first import on is tested by `test_serving`,
`test_processes` and the tests of `work`, which exec them.
"""

import gc
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from chartpact.work import worker

ADDRESS = "TESTS_NURSERY"  # in the environment of a forked server: the socket of its nursery
_BOOT = "import sys; sys.path[:] = {path!r}; from tests.server.nursery import run; run({fds})"
_LONGEST = 1 << 20  # bytes of a request


class Fork:
    """A process that a nursery forked, with the methods of `subprocess.Popen` that are needed."""

    def __init__(self, call: Callable[..., None], *arguments: object, fds: Sequence[int]) -> None:
        self.returncode: int | None = None
        self._waits = threading.Lock()  # a worker may be ended by two threads at once
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(address())
        request = pickle.dumps((call, arguments))
        socket.send_fds(self._connection, [request], list(fds))
        self.pid = int(self._connection.recv(32))

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        with self._waits:
            if self.returncode is None:
                self._connection.settimeout(timeout)
                try:
                    status = self._connection.recv(32)
                except (BlockingIOError, TimeoutError):
                    raise subprocess.TimeoutExpired("a fork", timeout or 0) from None
                self.returncode = int(status) if status else -signal.SIGKILL  # without its nursery
                self._connection.close()
            return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_server(
    arguments: Sequence[str], environment: Mapping[str, str], cwd: Path | None, log: Path
) -> Fork:
    """`chartpact serve`, which writes to a log."""
    environment = {**environment, ADDRESS: address()}
    with log.open("wb") as stream:
        asked = (list(arguments), environment, cwd or Path.cwd())
        return Fork(_serve, *asked, fds=[stream.fileno()])


def fork_worker(channel: int, setup: worker.Setup) -> Fork:
    """A worker, as `chartpact.work.worker.start_process` execs it."""
    environment = {**os.environ, **(setup.environment or {}), ADDRESS: address()}
    errors = sys.__stderr__.fileno()
    return Fork(_work, os.getpid(), environment, setup.silent, fds=[channel, errors])


def address() -> str:
    """The socket of the nursery that this process was forked from, or of the run."""
    return os.environ.get(ADDRESS) or _start_or_find()


@cache
def _start_or_find() -> str:
    """The socket of the nursery of this run, which the first process that needs it starts."""
    folder = os.environ.get("TESTS_RUN")
    shared = Path(folder or mkdtemp(), "nursery")
    with shared.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not shared.exists():
            _start(str(shared), os.getppid() if folder else os.getpid())
    return str(shared)


def _start(address: str, owner: int) -> None:
    """Starts a nursery, which ends with its owner."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(64)
    with listener:
        fds = [listener.fileno(), os.pidfd_open(owner)]
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOT.format(path=sys.path, fds=fds)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            pass_fds=fds,
        )
        os.close(fds[1])
    process.returncode = 0  # nobody waits for it: it ends after the run


# ------------------------------------------------------------------------------ in the nursery


def run(fds: Sequence[int]) -> None:
    """Imports and rehearses, then forks what it is asked for until its owner is gone."""
    listener, owner = socket.socket(fileno=fds[0]), fds[1]
    _rehearse()
    gc.collect()
    gc.freeze()
    running: dict[int, socket.socket] = {}
    waked, wakes = socket.socketpair()
    for end in (waked, wakes):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(wakes.fileno())
    selector = selectors.DefaultSelector()
    for end in (listener, owner, waked):
        selector.register(end, selectors.EVENT_READ)
    while True:
        ready = [key.fileobj for key, _ in selector.select()]
        if owner in ready:
            return
        if waked in ready:
            waked.recv(4096)
            _tell_endings(running)
        if listener in ready:
            connection, _ = listener.accept()
            request, given, _, _ = socket.recv_fds(connection, _LONGEST, 8)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                selector.close()
                os.close(owner)
                for end in (listener, waked, wakes, connection, *running.values()):
                    end.close()
                _become(request, given)
            for fd in given:
                os.close(fd)
            connection.send(str(pid).encode())
            running[pid] = connection


def _rehearse() -> None:
    """What servers import and compile, and what workers draw first."""
    import uvicorn
    import uvloop

    from chartpact import charts, contracts, pacts
    from chartpact.bars import samples
    from chartpact.catalogue import shipped
    from chartpact.render import raster
    from chartpact.server import app, command, jobs

    assert all((app, command, uvicorn, uvloop))
    shipped()
    for name in pacts.names():
        contracts.find(name)
    samples.bars(jobs.FIRST_CHART[0])
    drawn = charts.chart(samples.bars(jobs.SAMPLE), jobs.SHOWN, last=50)
    raster.rasterize(drawn.svg(width=300, height=200, theme="dark"))
    assert len(os.listdir("/proc/self/task")) == 1


def _tell_endings(running: dict[int, socket.socket]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        if pid in running:
            with running.pop(pid) as connection, suppress(OSError):
                connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: bytes, fds: list[int]) -> None:
    """Does what was asked for, and ends."""
    status = 1
    try:
        call, arguments = pickle.loads(request)
        call(*arguments, *fds)
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else bool(ending.code)
    except BaseException:  # noqa: BLE001  (told as an interpreter tells it)
        sys.excepthook(*sys.exc_info())
    finally:
        _end(status)


def _end(status: int) -> None:
    """Ends as an interpreter does: with its threads, and what waits for its end."""
    import atexit

    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def _serve(arguments: list[str], environment: dict[str, str], cwd: Path, log: int) -> None:
    from chartpact.__main__ import main

    worker.start_process = fork_worker
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    os.dup2(log, sys.stderr.fileno())
    os.close(log)
    sys.exit(main(["serve", *arguments]))


def _work(owner: int, environment: dict[str, str], silent: bool, channel: int, errors: int) -> None:
    os.setpgid(0, 0)
    Path("/proc/self/comm").write_text(_name("work", owner))
    worker.start_process = fork_worker
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd, end in ((0, nothing), (1, nothing), (2, nothing if silent else errors)):
        os.dup2(end, fd)
    os.close(errors)
    os.close(nothing)
    os.environ.clear()
    os.environ.update(environment)
    worker.serve(channel)


def _name(kind: str, owner: int) -> str:
    """The name that the kernel has for what was forked for a process: at most 15 letters."""
    return f"{kind}-{owner}"


def find_workers(owner: int) -> list[int]:
    """The workers that were forked for this process."""
    return _find(_name("work", owner))


def _find(name: str) -> list[int]:
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if comm.read_text().strip() == name:
                found.append(int(comm.parent.name))
    return found
