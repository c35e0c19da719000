"""Work whose caller cancels it is stopped."""

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest
from tests.postgres import url_for
from tests.server.auth.conftest import META
from tests.server.conftest import SLOW

from chartpact.server import app
from chartpact.server.metrics import Metrics
from chartpact.server.settings import Limits, Settings


def read(metrics: Metrics, series: str) -> float:
    lines = (line.rpartition(" ") for line in metrics.text().splitlines())
    return float(next(value for name, _, value in lines if name == series))


@pytest.mark.slow
def test_a_call_that_an_mcp_client_cancels_is_stopped(tmp_path):
    metrics, limits = Metrics(), Limits(script_seconds_per_minute=10**6)
    settings = Settings(database=url_for(tmp_path, kind="sqlite"), limits=limits)
    served = app.create(settings, stdio=True, metrics=metrics)
    chart = {"symbol": "sample:es-5m", "bars": 5000, "indicators": ["slow"] * 16}
    server = served.mcp._lowlevel_server

    async def wait_for(series: str, more_than: float) -> None:
        with anyio.fail_after(120):
            while read(metrics, series) <= more_than:
                await anyio.sleep(0.02)

    async def converse() -> None:
        sent, received = anyio.create_memory_object_stream(8)
        outgoing, answers = anyio.create_memory_object_stream(8)

        async def call(number: int, name: str, /, **arguments: object) -> None:
            params = {"name": name, "arguments": arguments, "_meta": META}
            request = JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call", params=params)
            await sent.send(SessionMessage(request))

        async with anyio.create_task_group() as tasks, sent, answers:
            options = server.create_initialization_options()
            tasks.start_soon(server.run, received, outgoing, options)
            await call(1, "register_indicator", name="slow", source=SLOW)
            assert (await answers.receive()).message.id == 1
            began = read(metrics, "chartpact_queue_seconds_count")
            await call(2, "generate_chart", format="summary", **chart)
            await wait_for("chartpact_queue_seconds_count", began)
            cancelled = JSONRPCNotification(
                jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 2}
            )
            await sent.send(SessionMessage(cancelled))
            await wait_for('chartpact_runs_total{outcome="left"}', 0)
            tasks.cancel_scope.cancel()

    try:
        anyio.run(converse)
    finally:
        served.close()
