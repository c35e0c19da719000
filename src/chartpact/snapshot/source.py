"""The seam between charts and those who read them: a source yields one snapshot at a time."""

from typing import Protocol

from chartpact.snapshot.snapshot import Snapshot


class SnapshotSource(Protocol):
    """A chart that can be read again and again.

    `read` gives everything that stands on the chart at one moment, or raises a `Failure` that says
    why it cannot. Half a chart is never given. `close` lets go of connections and processes; a
    closed source may be read again.
    """

    @property
    def name(self) -> str:
        """What the source is called in snapshots and readings."""

    def read(self) -> Snapshot: ...

    def close(self) -> None: ...
