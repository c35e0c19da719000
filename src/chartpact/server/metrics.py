"""What is counted for monitoring, in the text format of Prometheus.

Every series is known beforehand and has a place in a block of memory. The processes of one server
share such a block, a row each, so that any of them can tell the sums.
"""

import mmap
import os
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress

LE = (0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 45.0)  # seconds
DOORS = ("mcp", "rest", "identity", "page", "watch")
STATUSES = ("2xx", "3xx", "4xx", "429", "5xx", "503", "none")
PAGES = ("/", "/connect", "/docs", "/openapi.json", "/sample.svg", "/favicon.ico")
OUTCOMES = ("ok", "refused", "time", "memory", "size", "budget", "crash", "busy", "left")

_HELP = {
    "chartpact_requests_total": ("counter", "Requests answered, by door and status."),
    "chartpact_request_seconds": ("histogram", "Time from a request to the end of its answer."),
    "chartpact_queue_seconds": ("histogram", "Time that a job waited for its turn on a worker."),
    "chartpact_runs_total": ("counter", "Jobs of workers, by how they ended."),
    "chartpact_sandbox_starts_total": ("counter", "Sandboxes started, the first of a worker too."),
    "chartpact_sandbox_restarts_total": ("counter", "Sandboxes that were lost and started anew."),
    "chartpact_database_failures_total": ("counter", "Requests that the database did not answer."),
    "chartpact_calls_under_way": ("gauge", "Calls of users that are being answered."),
}


def _list_series() -> Iterator[tuple[str, str]]:
    for door in DOORS:
        for status in STATUSES:
            yield "chartpact_requests_total", f'{{door="{door}",status="{status}"}}'
    for outcome in OUTCOMES:
        yield "chartpact_runs_total", f'{{outcome="{outcome}"}}'
    for name, (kind, _) in _HELP.items():
        if kind == "histogram":
            for le in (*(f"{bound:g}" for bound in LE), "+Inf"):
                yield name, f'_bucket{{le="{le}"}}'
            yield name, "_sum"
            yield name, "_count"
        elif name not in ("chartpact_requests_total", "chartpact_runs_total"):
            yield name, ""


_SERIES = tuple(_list_series())
_PLACES = {series: place for place, series in enumerate(_SERIES)}
ROW_BYTES = 8 * len(_SERIES)
SHARED_ROWS = 256  # more than the processes that serve, also while they are replaced
SHARED_BYTES = ROW_BYTES * SHARED_ROWS


class Metrics:
    """The counters of one process, beside those of the others that share the block."""

    def __init__(self, block: mmap.mmap | None = None, row: int = 0) -> None:
        self._block = block or mmap.mmap(-1, ROW_BYTES)
        self._all = memoryview(self._block).cast("d")
        self._first = row * len(_SERIES)
        # What is under way ended with the process that was in this row before.
        self._all[self._first + _PLACES["chartpact_calls_under_way", ""]] = 0.0

    @classmethod
    def share(cls, path: str) -> "Metrics":
        """Counters in the first row of a file that no living process has."""
        from fcntl import LOCK_EX, LOCK_NB, lockf

        file = os.open(path, os.O_RDWR)  # the row is this process's while it is open
        for row in range(SHARED_ROWS):
            with suppress(BlockingIOError, PermissionError):
                lockf(file, LOCK_EX | LOCK_NB, 1, row)
                return cls(mmap.mmap(file, SHARED_BYTES), row)
        raise OSError("every row of the counters is taken")

    def add(self, name: str, labels: str = "", amount: float = 1.0) -> None:
        self._all[self._first + _PLACES[name, labels]] += amount

    def observe(self, name: str, seconds: float) -> None:
        """Counts a duration; buckets are summed up when they are told."""
        place = bisect_left(LE, seconds)
        le = f"{LE[place]:g}" if place < len(LE) else "+Inf"
        self.add(name, f'_bucket{{le="{le}"}}')
        self.add(name, "_sum", seconds)
        self.add(name, "_count")

    def count_request(self, path: str, status: int, seconds: float) -> None:
        if path == "/mcp":
            door = "mcp"
        elif path.startswith(("/api/", "/chart.")):
            door = "rest"
        elif path in ("/healthz", "/readyz", "/metrics"):
            door = "watch"
        elif path in PAGES or path.startswith(("/static/", "/docs/")):
            door = "page"
        else:
            door = "identity"
        code = str(status) if status in (429, 503) else f"{status // 100}xx" if status else "none"
        self.add("chartpact_requests_total", f'{{door="{door}",status="{code}"}}')
        if door != "watch":
            self.observe("chartpact_request_seconds", seconds)

    def count_run(self, kind: str) -> None:
        """A job that ended well ("ok"), or with that kind of problem."""
        outcome = kind if kind in OUTCOMES else "refused"
        self.add("chartpact_runs_total", f'{{outcome="{outcome}"}}')

    def text(self) -> str:
        """The sums over all processes."""
        width = len(_SERIES)
        sums = [sum(self._all[place::width]) for place in range(width)]
        lines, current, below = [], "", 0.0
        for (name, labels), value in zip(_SERIES, sums, strict=True):
            if name != current:
                kind, about = _HELP[name]
                lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
                current, below = name, 0.0
            below += value
            shown = below if labels.startswith("_bucket") else value
            lines.append(f"{name}{labels} {shown:.10g}")
        return "\n".join(lines) + "\n"
