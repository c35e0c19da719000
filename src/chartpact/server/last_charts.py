"""The chart that each user had drawn last, which tools without a symbol mean."""

import sqlalchemy as sa

from chartpact.cache import Cache
from chartpact.library.database import Database
from chartpact.library.schema import last_charts
from chartpact.server.shapes import ChartAsk

MOST_REMEMBERED = 10_000  # users

_ROW = last_charts.c


class LastCharts:
    """In memory, and where processes share a database also there."""

    def __init__(self, shared: Database | None) -> None:
        self._shared = shared
        self._own: Cache[str, ChartAsk] = Cache(MOST_REMEMBERED)

    def get(self, user: str) -> ChartAsk | None:
        """The chart; reads the database where it is shared."""
        if self._shared is None:
            return self._own.get(user)
        query = sa.select(_ROW.ask_json).where(_ROW.user_id == user)
        with self._shared.read() as connection:
            text = connection.execute(query).scalar()
        return None if text is None else ChartAsk.model_validate_json(text)

    def put(self, user: str, ask: ChartAsk) -> None:
        """Remembers the chart; writes to the database where it is shared."""
        self._own.put(user, ask)
        if self._shared is None:
            return
        with self._shared.write(user) as connection:
            self._shared.allow_loss(connection)
            connection.execute(sa.delete(last_charts).where(_ROW.user_id == user))
            row = {"user_id": user, "ask_json": ask.model_dump_json()}
            connection.execute(sa.insert(last_charts).values(row))
