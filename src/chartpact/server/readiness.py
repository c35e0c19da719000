"""Whether a server can do its work now: its database can be written, its workers have started."""

import asyncio
import shutil
import time
from pathlib import Path

import sqlalchemy as sa

from chartpact.library.database import Database
from chartpact.server.refusals import name_cause
from chartpact.work.lanes import Workers

LEAST_FREE_BYTES = 32 * 2**20  # on the disk of the database
ANSWER_S = 3.0
REMEMBERED_S = 1.0  # anybody may ask


class Readiness:
    """Asks at most once a second, and one question at a time."""

    def __init__(self, database: Database, workers: Workers) -> None:
        self._database = database
        self._workers = workers
        self._lock = asyncio.Lock()
        self._probe: asyncio.Future[str] | None = None
        self._known: tuple[float, str] = (-REMEMBERED_S, "")

    async def find_obstacles(self) -> dict[str, str]:
        """The obstacles by part; empty when the server is ready."""
        async with self._lock:
            at, reason = self._known
            if time.monotonic() - at >= REMEMBERED_S:
                reason = await self._try_database()
                self._known = (time.monotonic(), reason)
        obstacles = {"database": reason} if reason else {}
        if not self._workers.ready:
            obstacles["workers"] = "starting"
        return obstacles

    async def _try_database(self) -> str:
        if self._probe is None or self._probe.done():  # else the last one still waits
            self._probe = asyncio.ensure_future(asyncio.to_thread(self._find_failure))
        try:
            reason = await asyncio.wait_for(asyncio.shield(self._probe), ANSWER_S)
        except TimeoutError:
            return f"it does not answer within {ANSWER_S:g} s"
        return reason

    def _find_failure(self) -> str:
        """Writes, as a database that is full or read-only can still be read."""
        try:
            if self._database.embedded:
                free = shutil.disk_usage(Path(self._database.engine.url.database or "").parent).free
                if free < LEAST_FREE_BYTES:
                    return f"its disk is full: {free} bytes are free"
            self._database.check_writable()
        except (sa.exc.SQLAlchemyError, OSError) as error:
            return name_cause(error).splitlines()[0][:200] or "it does not answer"
        return ""
