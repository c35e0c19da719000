"""`serve --workers N`: uvicorn's supervisor over processes that answer on one socket."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from socket import socket

from uvicorn import Config
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from chartpact.server.logs import announced

log = logging.getLogger(__name__)

HEALTH_S = 30  # for a worker to answer its supervisor, its imports included
STOP_S = 35.0  # for workers to finish what is under way


class Supervisor(Multiprocess):
    """Keeps workers running until SIGTERM or SIGINT, and tells what becomes of them.

    `announce` is called once, when every worker answers requests.
    """

    def __init__(self, config: Config, listener: socket, announce: Callable[[], None]) -> None:
        super().__init__(config, [listener])
        self._announce: Callable[[], None] | None = announce
        self._serving: set[int | None] = set()  # ids of processes

    def serve(self) -> int:
        """The exit code: 0 after a signal, 1 where the application does not start."""
        keep_current_folder_off_path()
        self.run()
        return int(any(process.exitcode == STARTUP_FAILURE for process in self.processes))

    def keep_subprocess_alive(self) -> None:
        before = [(process.pid, process) for process in self.processes]
        super().keep_subprocess_alive()
        for number, process in enumerate(self.processes, 1):
            name = f"worker {number} of {len(self.processes)}"
            if number <= len(before) and before[number - 1][1] is not process:
                pid, ended = before[number - 1]
                self._serving.discard(pid)
                log.error("%s ended (process %s, %s): a new one starts", name, pid, ended.exitcode)
            if process.pid not in self._serving and process.is_ready():
                self._serving.add(process.pid)
                announced.info("%s serves (process %s)", name, process.pid)
        if self._announce is not None and len(self._serving) == len(self.processes):
            self._announce()
            self._announce = None

    def join_all(self) -> None:
        ends = time.monotonic() + STOP_S
        for process in self.processes:
            process.process.join(max(0.0, ends - time.monotonic()))
            if process.process.is_alive():
                process.process.kill()
        super().join_all()


def keep_current_folder_off_path() -> None:
    """Has interpreters that start from now on import nothing from the current folder."""
    os.environ["PYTHONSAFEPATH"] = "1"
    if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # which `python -m` put there, and which workers would inherit


def end_with_supervisor() -> None:
    """Ends this process in order when its supervisor is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
