"""Workers are ready before they are needed, and work whose caller leaves is stopped."""

import asyncio
import socket
from collections.abc import Iterator
from functools import partial

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest
from tests.postgres import url_for
from tests.server.auth.conftest import META, tool_call
from tests.server.conftest import SCRIPT, SLOW, Running, serving, wait_until
from tests.work import chores

from chartpact.problem import Failure
from chartpact.server import app
from chartpact.server.execution import Execution
from chartpact.server.metrics import Metrics
from chartpact.server.settings import Settings, UserLimits
from chartpact.work.lanes import Bounds, Workers

CHART = {"symbol": "sample:es-5m", "bars": 60, "indicators": ["mine"], "format": "summary"}
METRICS_TOKEN = "metrics-0123456789"

pytestmark = pytest.mark.slow


def read(metrics: Metrics, series: str) -> float:
    lines = (line.rpartition(" ") for line in metrics.text().splitlines())
    return float(next(value for name, _, value in lines if name == series))


def test_a_call_that_an_mcp_client_cancels_is_stopped(tmp_path):
    metrics, limits = Metrics(), UserLimits(script_seconds_per_minute=10**6)
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


def test_the_processor_time_of_work_that_ends_without_an_answer_is_told():
    losses: list[float] = []

    async def ask(workers: Workers) -> None:
        execution = Execution(workers, 60, Metrics())
        await execution.compute("ann", chores.who)
        workers._quick.bounds = Bounds(wall_s=1)  # its worker has had time enough to start
        burn = partial(chores.burn, 600)
        begun = asyncio.create_task(execution.compute("ann", burn, on_loss=losses.append))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(execution.compute("ann", burn, on_loss=losses.append))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(Failure, match="longer than 1 s"):
            await begun

    with Workers(1, bounds=Bounds(wall_s=60)) as workers:
        asyncio.run(ask(workers))
    unbegun, ended = losses
    assert unbegun == 0
    assert ended > 0.1


# ------------------------------------------------------------------------------ a whole server


@pytest.fixture(scope="module")
def warm(tmp_path_factory) -> Iterator[Running]:
    """A server whose workers start before somebody needs them."""
    limits = "script_seconds_per_minute=100000,calls_per_minute=100000"
    env = {"CHARTPACT_WARM": "on", "CHARTPACT_LIMITS": limits}
    folder = tmp_path_factory.mktemp("warm")
    with serving(folder, CHARTPACT_METRICS_TOKEN=METRICS_TOKEN, **env) as running:
        yield running


def test_a_sandbox_runs_before_the_first_script_comes(warm):
    with warm.client("ann") as ann:
        assert ann.put("/api/v1/my/indicators/mine", json={"source": SCRIPT}).json()["ok"]
        assert ann.post("/api/v1/charts", json=CHART).status_code == 200
    assert warm.metric('chartpact_runs_total{outcome="ok"}') >= 2
    assert warm.metric("chartpact_sandbox_starts_total") == 0  # since the workers were ready


def test_metrics_are_for_this_machine_and_not_for_who_comes_through_a_proxy(warm):
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    answer = warm.ask("/metrics", headers=forwarded)
    assert answer.status_code == 403
    assert "CHARTPACT_METRICS_TOKEN" in answer.json()["message"]
    for token, status in (("wrong", 403), (METRICS_TOKEN, 200)):
        headers = {**forwarded, "Authorization": f"Bearer {token}"}
        answer = warm.ask("/metrics", headers=headers)
        assert answer.status_code == status
    assert "chartpact_requests_total" in answer.text


@pytest.mark.parametrize("door", ["/api/v1/charts", "/api/v1/charts/image", "/mcp"])
def test_the_work_of_a_call_whose_client_left_is_stopped(warm, door):
    left, started = 'chartpact_runs_total{outcome="left"}', "chartpact_queue_seconds_count"
    chart = {"symbol": "sample:es-5m", "bars": 5000, "indicators": ["slow"] * 16}
    with warm.client("bob") as bob:
        assert bob.put("/api/v1/my/indicators/slow", json={"source": SLOW}).json()["ok"]
        if door == "/mcp":
            asked = bob.build_request("POST", door, **tool_call("generate_chart", **chart))
        else:
            asked = bob.build_request("POST", door, json=chart)
    before, began = warm.metric(left), warm.metric(started)
    lines = [f"POST {door} HTTP/1.1", *(f"{name}: {text}" for name, text in asked.headers.items())]
    with socket.create_connection((asked.url.host, asked.url.port)) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + asked.read())
        wait_until(lambda: warm.metric(started) > began)
    wait_until(lambda: warm.metric(left) == before + 1)
