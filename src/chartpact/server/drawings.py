"""What is drawn on a chart: one on TradingView that the operator granted, or one of our own.

It is given out in the shapes of the TradingView MCP server's tools, and read under contracts.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from chartpact import pacts
from chartpact.cache import Cache
from chartpact.server import shapes
from chartpact.server.charting import Charting
from chartpact.server.execution import Execution
from chartpact.server.refusals import refuse
from chartpact.server.settings import Settings
from chartpact.snapshot import Snapshot, SnapshotSource
from chartpact.sources.tradingview import GrantedChart
from chartpact.sources.tradingview.stock import write_reply

FRESH_S = 1.0  # several questions within it are answered from one read


class Drawings:
    """Reads charts, for the tools `data_get_pine_…` and for contracts."""

    def __init__(self, settings: Settings, charts: Charting, execution: Execution) -> None:
        self._granted = settings.tradingview
        self._charts, self._execution = charts, execution
        self._sources: dict[str, SnapshotSource] = {}
        self._reading = {chart.name: asyncio.Lock() for chart in settings.tradingview}
        self._fresh: Cache[str, Snapshot] = Cache(max(1, len(self._granted)), seconds=FRESH_S)

    async def reply(
        self, user: str, channel: str, ask: shapes.ShortDrawingsAsk, max_labels: float = 0
    ) -> dict[str, Any]:
        """What the tool of a channel says."""
        snapshot = await self.snapshot(user, ask)
        reply = write_reply(snapshot, channel, ask.study_filter, ask.verbose, max_labels)
        if ask.verbose:
            facts = {key: snapshot.chart.get(key) for key in ("symbol", "timeframe", "as_of")}
            reply |= {**facts, "source": snapshot.source["name"]}
        return reply

    async def snapshot(self, user: str, ask: shapes.ShortDrawingsAsk) -> Snapshot:
        """Everything on the chart that was asked for, or on the one that is meant without a name.

        Without a symbol that is the TradingView chart which is granted to the user, else the last
        chart that the user had drawn.
        """
        granted = self.list_granted(user)
        if ask.symbol in granted:
            return await self.read_granted(granted[ask.symbol])
        if ask.symbol is None and not ask.indicators and len(granted) == 1:
            return await self.read_granted(next(iter(granted.values())))
        if ask.symbol is None and not ask.indicators and granted:
            names = ", ".join(granted)
            raise refuse("value", f"several charts are granted to you: name one as symbol: {names}")
        chart = await self._charts.last_chart(user)
        if ask.symbol is not None and (ask.indicators or chart is None):
            if not ask.indicators:
                raise refuse("value", "name the indicators to draw on this symbol, as in ['rsi']")
            fields = ask.model_dump(include={"symbol", "timeframe", "indicators"})
            chart = shapes.ChartAsk.model_validate({**fields, "format": "summary"})
        if chart is None:
            raise refuse(
                "value",
                "there is no chart to read: no TradingView chart is granted to you, and you have "
                "drawn none here; call generate_chart first, or give symbol and indicators",
            )
        if ask.symbol is not None and ask.symbol != chart.symbol:
            raise refuse("value", "name the indicators to draw on this symbol, as in ['rsi']")
        return await self._charts.read_drawn(user, chart)

    async def read(self, user: str, ask: shapes.StateAsk, work: Callable[..., Any]) -> Any:
        """Does the work on contracts and the chart that they read, in a worker."""
        chart = self.list_granted(user).get(ask.symbol)
        if chart is None:
            return await self._charts.read(user, ask, work)
        if ask.params or ask.timeframe:
            raise refuse(
                "value", f"{chart.name!r} is drawn already: leave out params and timeframe"
            )
        reads = await self._charts.find_contracts(user, ask, pacts.names())
        snapshot = await self.read_granted(chart)
        return await self._charts.compute(
            user,
            partial(work, snapshot, reads=reads),
            contracts=reads.count,
        )

    def list_granted(self, user: str) -> dict[str, GrantedChart]:
        """The TradingView charts that the user may read, by name."""
        return {chart.name: chart for chart in self._granted if chart.allows(user)}

    async def read_granted(self, chart: GrantedChart) -> Snapshot:
        """The chart on TradingView; those who ask at the same time share one read."""
        async with self._reading[chart.name]:
            snapshot = self._fresh.get(chart.name)
            if snapshot is None:
                source = self._sources.setdefault(chart.name, chart.open())
                snapshot = await asyncio.to_thread(source.read)
                self._fresh.put(chart.name, snapshot)
            return snapshot

    def close(self) -> None:
        for source in self._sources.values():
            source.close()
