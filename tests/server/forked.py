"""`chartpact serve` in a fork of a process that has imported it: a tenth of the processor time.

The process is exec'd once for a process of the test run, and has one thread. What `chartpact serve`
does from its first import on is tested by `test_serving`, whose servers are exec'd.
"""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.server.preloaded"])


class ForkedServer:
    """A server, with the methods of `subprocess.Popen` that tests need."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path | None,
        log: Path,
    ) -> None:
        asked = (list(arguments), dict(environment), cwd or Path.cwd(), log)
        self._process = FORKS.Process(target=_serve, args=asked, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("chartpact serve", timeout or 0)
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


def _serve(arguments: list[str], environment: dict[str, str], cwd: Path, log: Path) -> None:
    from chartpact.__main__ import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    with log.open("wb") as stream:
        os.dup2(stream.fileno(), sys.stderr.fileno())
    sys.exit(main(["serve", *arguments]))
