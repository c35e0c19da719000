"""A few processes that turn SVG into PNG, so that the GIL stays free while they draw.

Workers are plain subprocesses that read documents from their standard input: nothing of the
caller's `__main__` is imported again, they end by themselves when the caller is gone, and one that
dies is replaced. They start with the first picture and stop at exit.
"""

import atexit
import os
import selectors
import struct
import subprocess
import sys
import threading
import time
from collections import deque

from chartpact.render import raster
from chartpact.render.errors import RenderError

SIZE = max(1, min(4, os.cpu_count() or 1))
TIMEOUT_S = 60.0
TOO_LONG = "the picture took too long to draw"
_START = "import sys; sys.path[:] = {path!r}; from chartpact.render.raster import main; main()"


class _Died(Exception):
    """The worker went away before it answered."""


class _Worker:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for the caller, who then lets the worker go
        )

    def draw(self, svg: bytes, timeout_s: float) -> bytes:
        deadline = time.monotonic() + timeout_s
        self._write(struct.pack(">I", len(svg)) + svg, deadline)
        kind, size = struct.unpack(">BI", self._read(5, deadline))
        answer = self._read(size, deadline)
        if kind == raster.FAILED:
            raise RenderError(answer.decode())
        return answer

    def _write(self, document: bytes, deadline: float) -> None:
        assert self.process.stdin is not None
        pipe = self.process.stdin.fileno()
        os.set_blocking(pipe, False)  # so that a worker which does not read holds nobody up
        left = memoryview(document)
        with selectors.DefaultSelector() as waiting:
            waiting.register(pipe, selectors.EVENT_WRITE)
            while left:
                if not waiting.select(max(deadline - time.monotonic(), 0)):
                    raise RenderError(TOO_LONG)
                try:
                    left = left[os.write(pipe, left) :]
                except BrokenPipeError:
                    raise _Died from None

    def _read(self, size: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        got = bytearray()
        with selectors.DefaultSelector() as waiting:
            waiting.register(pipe, selectors.EVENT_READ)
            while len(got) < size:
                if not waiting.select(max(deadline - time.monotonic(), 0)):
                    raise RenderError(TOO_LONG)
                piece = os.read(pipe, size - len(got))
                if not piece:
                    raise _Died
                got += piece
        return bytes(got)

    def stop(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:  # what was left to write has no reader any more
                    continue
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Pool:
    """Draws PNGs in other processes; as many at once as it has workers."""

    def __init__(self, size: int = SIZE, timeout_s: float = TIMEOUT_S) -> None:
        self._size = size
        self._timeout_s = timeout_s
        self._clear()

    def _clear(self) -> None:
        self._idle: deque[_Worker] = deque()
        self._room = threading.BoundedSemaphore(self._size)
        self._lock = threading.Lock()

    def png(self, svg: str) -> bytes:
        """The PNG of an SVG document."""
        document = svg.encode()
        with self._room:
            try:
                return self._once(document)
            except _Died:  # killed from outside: a fresh worker may fare better, once
                try:
                    return self._once(document)
                except _Died:
                    raise RenderError("the process that draws PNGs died twice") from None

    def _once(self, document: bytes) -> bytes:
        worker = self._take()
        try:
            answer = worker.draw(document, self._timeout_s)
        except RenderError as error:
            if str(error) == TOO_LONG:
                worker.process.kill()
                worker.stop()
            else:
                self._give_back(worker)
            raise
        except BaseException:
            worker.process.kill()
            worker.stop()
            raise
        self._give_back(worker)
        return answer

    def _take(self) -> _Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.process.poll() is None:
                    return worker
                worker.stop()
        return _Worker()

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """Lets the idle workers go; a later picture starts new ones."""
        with self._lock:
            workers = list(self._idle)
            self._idle.clear()
        for worker in workers:
            worker.stop()

    def forget(self) -> None:
        """After a fork: the workers are the parent's, so only our ends of their pipes close."""
        for worker in self._idle:
            worker.process.returncode = 0
            for pipe in (worker.process.stdin, worker.process.stdout):
                if pipe is not None:
                    pipe.close()
        self._clear()


shared = Pool()
atexit.register(shared.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.forget)


def png(svg: str) -> bytes:
    """The PNG of an SVG document, drawn where it disturbs nobody.

    resvg holds the GIL for the whole picture: that matters only when another thread could run.
    """
    if threading.active_count() > 1:
        return shared.png(svg)
    return raster.rasterize(svg)
