"""How many calls the server answers, how soon, and whether hostile scripts are felt by others.

    python bench/server.py            prints the tables
    python bench/server.py --write    also puts them into docs/benchmarks.md

Every server is a process of its own on loopback, asked by as many users as there are clients; the
trivial tool of fastmcp is served and asked in the same way, in turns with ours.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

import httpx2

import page

SCRIPT = """
PARAMS = [{"name": "n", "type": "int", "default": 3, "min": 1}]
META = {"title": "Average", "overlay": True}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA")
"""
HOSTILE = """
PARAMS = []
META = {"title": "Hostile"}

def compute(ohlcv, params, chart):
    if len(ohlcv) > 200:
        for _ in range(100000):
            ohlcv.resample("1D")
"""
OURS = """
import sys
import uvicorn
from mcp.server import MCPServer
from chartpact.server import app
from chartpact.server.settings import Limits, Settings

def extend(server):
    @server.tool()
    async def trivial(x: int) -> int:
        "Returns x."
        return x

if __name__ == "__main__":
    many = 10**9
    limits = Limits(calls_per_minute=many, script_runs_per_minute=many, megapixels_per_minute=many)
    settings = Settings(database=f"sqlite:///{sys.argv[2]}/it.db", limits=limits)
    served = app.create(settings, identify=lambda h: h.get("x-user", "x"), extend=extend)
    try:
        uvicorn.run(served.app, port=int(sys.argv[1]), access_log=False, log_level="warning")
    finally:
        served.close()
"""
THEIRS = """
import sys
import uvicorn
from fastmcp import FastMCP

server = FastMCP("bench")

@server.tool
async def trivial(x: int) -> int:
    "Returns x."
    return x

app = server.http_app(stateless_http=True, json_response=True)
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""
CLIENTS = (1, 8, 64)


class Served:
    """A server in a process of its own."""

    def __init__(self, code: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "served.py"
        file.write_text(code)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, str(file), str(self.port), self._folder.name]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}"
        for _ in range(400):
            try:
                httpx2.get(self.url)
                break
            except httpx2.TransportError:
                time.sleep(0.05)

    def cpu_s(self) -> float:
        """Processor time of the web process, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(40)
        self._folder.cleanup()


Call = Callable[[httpx2.AsyncClient], Awaitable[None]]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tool(name: str, /, **arguments: object) -> Call:
    """A call of an MCP tool, on the wire of 2026-07-28, whose answer is looked at."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }

    async def call(client: httpx2.AsyncClient) -> None:
        answer = await client.post("/mcp", content=body, headers=headers)
        if answer.status_code != 200 or '"isError":true' in answer.text:
            raise AssertionError(answer.text[:300])

    return call


async def load(url: str, calls: list[Call], seconds: float) -> list[list[float]]:
    """How long each call of each client took; every client is a user, and calls without pause."""
    took: list[list[float]] = [[] for _ in calls]

    async def one(number: int, call: Call) -> None:
        user = {"x-user": f"user{number}"}
        async with httpx2.AsyncClient(base_url=url, headers=user, timeout=120) as client:
            await call(client)
            ends = time.perf_counter() + seconds
            while time.perf_counter() < ends:
                started = time.perf_counter()
                await call(client)
                took[number].append(time.perf_counter() - started)

    await asyncio.gather(*(one(number, call) for number, call in enumerate(calls)))
    return took


def row(took: list[list[float]], seconds: float) -> tuple[float, float, float]:
    """Calls a second, and the middle and the 95th of a hundred in ms."""
    every = sorted(one for each in took for one in each)
    return len(every) / seconds, 1e3 * statistics.median(every), 1e3 * every[int(0.95 * len(every))]


def shown(name: str, clients: int, took: list[list[float]], seconds: float) -> str:
    rate, middle, late = row(took, seconds)
    return f"| {name} | {clients} | {rate:.0f} | {middle:.1f} | {late:.1f} |"


def verbs(ours: Served, seconds: float) -> list[str]:
    chart = {"symbol": "sample:es-5m", "indicators": ["rsi", "bbands", "cipher_b"], "bars": 200}
    asked = {
        "trivial tool": tool("trivial", x=1),
        "`generate_chart`, summary": tool("generate_chart", format="summary", **chart),
        "`generate_chart`, PNG": tool("generate_chart", format="png", **chart),
        "`register_indicator`": tool("register_indicator", name="mine", source=SCRIPT),
    }
    lines = ["| call | clients | calls a second | p50, ms | p95, ms |", "|---|--:|--:|--:|--:|"]
    for name, call in asked.items():
        for clients in CLIENTS:
            took = asyncio.run(load(ours.url, [call] * clients, seconds))
            lines.append(shown(name, clients, took, seconds))
    return lines


def beside_fastmcp(ours: Served, seconds: float) -> list[str]:
    theirs = Served(THEIRS)
    lines = [
        "| clients | chartpact, calls per CPU second | fastmcp | ratio |",
        "|--:|--:|--:|--:|",
    ]
    try:
        for clients in CLIENTS:
            rates: dict[str, list[float]] = {"ours": [], "theirs": []}
            for _ in range(3):  # in turns, so that both meet the same machine
                for name, served in (("ours", ours), ("theirs", theirs)):
                    before = served.cpu_s()
                    calls = [tool("trivial", x=1)] * clients
                    took = asyncio.run(load(served.url, calls, seconds))
                    done = sum(map(len, took)) + clients
                    rates[name].append(done / (served.cpu_s() - before))
            one, other = (statistics.median(each) for each in rates.values())
            lines.append(f"| {clients} | {one:.0f} | {other:.0f} | {one / other:.2f} |")
    finally:
        theirs.close()
    return lines


def with_hostile(ours: Served, seconds: float) -> list[str]:
    """Good clients' charts, without and with one client in ten that runs hostile scripts."""
    chart = {"symbol": "sample:es-5m", "bars": 200, "format": "summary"}
    good = tool("generate_chart", indicators=["rsi", "bbands", "cipher_b"], **chart)
    bad = tool("generate_chart", indicators=["hostile"] * 4, **chart)
    lines = [
        "| clients | of them hostile | p95 without, ms | p95 with, ms | ratio |",
        "|--:|--:|--:|--:|--:|",
    ]
    for clients in (8, 64):
        hostile = max(1, clients // 10)
        kept = tool("register_indicator", name="hostile", source=HOSTILE)
        asyncio.run(load(ours.url, [kept] * clients, 0.1))
        without, among = [], []
        for _ in range(2):
            took = asyncio.run(load(ours.url, [good] * (clients - hostile), seconds))
            without += [one for each in took for one in each]
            mixed = [bad] * hostile + [good] * (clients - hostile)
            took = asyncio.run(load(ours.url, mixed, seconds))
            among += [one for each in took[hostile:] for one in each]
        before, after = (1e3 * sorted(each)[int(0.95 * len(each))] for each in (without, among))
        lines.append(
            f"| {clients} | {hostile} | {before:.0f} | {after:.0f} | {after / before:.2f} |"
        )
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="put the tables into the docs")
    options.add_argument("--seconds", type=float, default=4, help="of every measurement")
    given = options.parse_args()
    ours = Served(OURS)
    try:
        tables = [verbs(ours, given.seconds)]
        try:
            versions = {"mcp": version("mcp"), "fastmcp": version("fastmcp")}
            tables.append(beside_fastmcp(ours, given.seconds))
        except ModuleNotFoundError:
            versions = {"mcp": version("mcp")}
            tables.append(["fastmcp is not installed: `make bench BENCH=server` installs it."])
        tables.append(with_hostile(ours, given.seconds))
    finally:
        ours.close()
    text = "\n\n".join("\n".join(lines) for lines in tables)
    text = f"{page.machine(versions)}\n\n{text}"
    print(text)
    if given.write:
        page.put("server", text)


if __name__ == "__main__":
    main()
