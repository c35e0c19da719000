"""How many calls the server answers, how soon, and whether hostile scripts are felt by others.

    python bench/server.py            prints the tables
    python bench/server.py --write    also puts them into docs/benchmarks.md
    python bench/server.py --tokens   prints what the check of a token costs alone
    python bench/server.py --workers  prints the table of workers and databases alone

Every server is a process of its own on loopback, asked over MCP of 2026-07-28 by as many users as
there are clients, each on one connection and without a pause.

What is equal beside fastmcp: the trivial tool, the requests byte for byte, the client, the same
SDK, uvicorn, uvloop and httptools of the same versions, no access log, stateless, answers in JSON;
each server has the same one core to itself while it is asked, the client the other, and both are
asked in turns, the medians of which count. What is not: ours looks up a token for every call, and
carries its routes, limits and its stricter reading of heads, as `chartpact serve` does.

Hostile clients draw charts of as many scripts as a chart may have, each of which uses up its whole
budget on what takes longest. Windows without and with them alternate, and medians count.
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
import uvloop

import page
from chartpact.library.database import open_database
from chartpact.work.cores import count_cores
from chartpact.work.cpu_time import cpu_s
from chartpact.work.lanes import QUIET_S

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.postgres import start_or_skip

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
import sqlalchemy as sa
import uvicorn
from chartpact.library.schema import tokens
from chartpact.server import app
from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.secret import digest
from chartpact.server.uvicorn_server import BoundedHttp
from chartpact.server.settings import Limits, Settings

def add_tokens(database):
    texts = dict.fromkeys(("client_id", "name"), "bench")
    with database.write(None) as connection:
        for user in (f"{kind}{number}" for kind in ("user", "hostile") for number in range(100)):
            row = {"token_hash": digest(f"token-of-{user}"), "token_id": user, "user_id": user,
                   "kind": "personal", "scope": "read write", "created_at": 0,
                   "expires_at": 2**53, **texts}
            connection.execute(sa.insert(tokens).values(row))

def extend(server):
    @server.tool()
    async def trivial(x: int) -> int:
        "Returns x."
        return x

if __name__ == "__main__":
    many = 10**9
    names = "calls_per_minute", "script_seconds_per_minute", "megapixels_per_minute"
    limits = Limits(**dict.fromkeys(names, many))
    settings = Settings(database=f"sqlite:///{sys.argv[2]}/it.db", limits=limits)
    identify = (lambda headers: headers.get("x-user", "x")) if CHECKED == 0 else AuthSettings()
    served = app.create(settings, identify=identify, extend=extend)
    add_tokens(served.database)
    settings = {"loop": "uvloop", "access_log": False, "log_level": "warning"}
    try:
        uvicorn.run(served.app, port=int(sys.argv[1]), http=BoundedHttp, **settings)
    finally:
        served.close()
"""
UNCHECKED = f"CHECKED = 0\n{OURS}"  # whoever says who they are is believed
OURS = f"CHECKED = 1\n{OURS}"  # tokens are looked up, as in production
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
settings = {"loop": "uvloop", "access_log": False, "log_level": "warning"}
uvicorn.run(app, port=int(sys.argv[1]), http="httptools", **settings)
"""
CLIENTS = (1, 8, 64)
ROUNDS = 5


class Served:
    """A server in a process of its own, on a core of its own where one is named."""

    def __init__(self, code: str, core: int | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "served.py"
        file.write_text(code)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, str(file), str(self.port), self._folder.name]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        if core is not None:
            os.sched_setaffinity(self.process.pid, {core})
        for _ in range(400):
            try:
                httpx2.get(f"http://127.0.0.1:{self.port}")
                break
            except httpx2.TransportError:
                time.sleep(0.05)
        self._settle()

    def _settle(self) -> None:
        """Waits until it and its workers have nothing left to do, the one that starts later too."""
        time.sleep(QUIET_S + 1)
        for _ in range(60):
            before = cpu_s(self.process.pid)
            time.sleep(0.5)
            if cpu_s(self.process.pid) - before < 0.03:
                return

    def cpu_s(self) -> float:
        """Processor time of the web process, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(40)
        self._folder.cleanup()


# ------------------------------------------------------------------------------------- a client

Request = Callable[[str], bytes]  # of a user
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tool(name: str, /, **arguments: object) -> Request:
    """A call of an MCP tool, as it goes over the wire."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    lines = (
        "POST /mcp HTTP/1.1",
        "Host: localhost:80",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        f"Mcp-Name: {name}",
        f"Content-Length: {len(body)}",
    )
    return lambda user: "\r\n".join(
        (*lines, f"X-User: {user}", f"Authorization: Bearer token-of-{user}", "", body)
    ).encode()


async def answered(reader: asyncio.StreamReader) -> bytes:
    """The body of an answer, which may come in chunks."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 200 "):
        raise AssertionError(head)
    if b"content-length:" in head:
        return await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body


async def load(port: int, requests: list[Request], seconds: float) -> list[list[float]]:
    """How long each call of each client took; every client is a user, and calls without pause."""
    took: list[list[float]] = [[] for _ in requests]

    async def one(number: int, request: Request) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        asked = request(f"{'hostile' if request is BAD else 'user'}{number}")
        ends = time.perf_counter() + seconds
        while (started := time.perf_counter()) < ends:
            writer.write(asked)
            answer = await answered(reader)
            took[number].append(time.perf_counter() - started)
            if request is not BAD and (b'"isError":true' in answer or b'"result"' not in answer):
                raise AssertionError(answer[:300])
        writer.close()

    await asyncio.gather(*(one(number, request) for number, request in enumerate(requests)))
    return took


def asked(served: Served, requests: list[Request], seconds: float) -> list[list[float]]:
    run: Awaitable[list[list[float]]] = load(served.port, requests, seconds)
    return uvloop.run(run)


def late(took: list[list[float]]) -> float:
    """The 95th of a hundred, in ms."""
    every = sorted(one for each in took for one in each)
    return 1e3 * every[int(0.95 * len(every))]


# ------------------------------------------------------------------------------------- tables

CHART = {"symbol": "sample:es-5m", "bars": 200}
SHOWN = ["rsi", "bbands", "cipher_b"]
GOOD = tool("generate_chart", format="summary", indicators=SHOWN, **CHART)
BAD = tool("generate_chart", format="summary", indicators=["hostile"] * 16, **CHART)


def verbs(ours: Served, seconds: float) -> list[str]:
    calls = {
        "trivial tool": tool("trivial", x=1),
        "`generate_chart`, summary": GOOD,
        "`generate_chart`, PNG": tool("generate_chart", format="png", indicators=SHOWN, **CHART),
        "`register_indicator`": tool("register_indicator", name="mine", source=SCRIPT),
    }
    lines = ["| call | clients | calls a second | p50, ms | p95, ms |", "|---|--:|--:|--:|--:|"]
    for name, call in calls.items():
        asked(ours, [call] * 8, 0.5)  # which starts what is only started when it is needed
        for clients in CLIENTS:
            started = time.perf_counter()
            took = asked(ours, [call] * clients, seconds)
            every = [one for each in took for one in each]
            rate = len(every) / (time.perf_counter() - started)
            middle = 1e3 * statistics.median(every)
            lines.append(f"| {name} | {clients} | {rate:.0f} | {middle:.1f} | {late(took):.1f} |")
    return lines


def beside_fastmcp(seconds: float) -> list[str]:
    both = {"ours": Served(OURS, core=0), "theirs": Served(THEIRS, core=0)}
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, everywhere - {0} or everywhere)
    lines = [
        "| clients | chartpact, calls per CPU second | fastmcp | ratio | ratio by the clock |",
        "|--:|--:|--:|--:|--:|",
    ]
    try:
        for clients in CLIENTS:
            of_core: dict[str, list[float]] = {name: [] for name in both}
            by_clock: dict[str, list[float]] = {name: [] for name in both}
            for _ in range(ROUNDS):  # in turns, so that both meet the same machine
                for name, served in both.items():
                    before, started = served.cpu_s(), time.perf_counter()
                    took = asked(served, [tool("trivial", x=1)] * clients, seconds / 2)
                    done = sum(map(len, took))
                    by_clock[name].append(done / (time.perf_counter() - started))
                    of_core[name].append(done / (served.cpu_s() - before))
            one, other = (statistics.median(each) for each in of_core.values())
            quick, slow = (statistics.median(each) for each in by_clock.values())
            lines.append(
                f"| {clients} | {one:.0f} | {other:.0f} | {one / other:.2f} | {quick / slow:.2f} |"
            )
    finally:
        os.sched_setaffinity(0, everywhere)
        for served in both.values():
            served.close()
    return lines


def check_of_tokens(seconds: float) -> list[str]:
    """The share of a trivial call that checks the token, in processor time of the web process."""
    both = {"checked": Served(OURS, core=0), "unchecked": Served(UNCHECKED, core=0)}
    lines = [
        "| clients | CPU of a trivial call, µs | without a check of the token, µs "
        "| share of the check |",
        "|--:|--:|--:|--:|",
    ]
    try:
        for clients in CLIENTS:
            cost: dict[str, list[float]] = {name: [] for name in both}
            for _ in range(ROUNDS):
                for name, served in both.items():
                    before = served.cpu_s()
                    done = sum(
                        map(len, asked(served, [tool("trivial", x=1)] * clients, seconds / 2))
                    )
                    cost[name].append(1e6 * (served.cpu_s() - before) / done)
            one, other = (statistics.median(each) for each in cost.values())
            lines.append(
                f"| {clients} | {one:.0f} | {other:.0f} | {100 * (1 - other / one):.0f} % |"
            )
    finally:
        for served in both.values():
            served.close()
    return lines


def with_hostile(ours: Served, seconds: float) -> list[str]:
    """Good clients' charts, without and with one client in ten that runs hostile scripts."""
    kept = tool("register_indicator", name="hostile", source=HOSTILE)
    lines = [
        "| good clients | hostile clients | p95 without, ms | p95 with, ms | ratio |",
        "|--:|--:|--:|--:|--:|",
    ]
    for clients in CLIENTS:
        hostile = max(1, clients // 10)
        good = max(1, clients - hostile)
        asked(ours, [lambda user: kept(user.replace("user", "hostile"))] * hostile, 0.1)
        without, among = [], []
        for _ in range(ROUNDS):
            without.append(late(asked(ours, [GOOD] * good, seconds)))
            among.append(late(asked(ours, [BAD] * hostile + [GOOD] * good, seconds)[hostile:]))
        before, after = statistics.median(without), statistics.median(among)
        lines.append(f"| {good} | {hostile} | {before:.0f} | {after:.0f} | {after / before:.2f} |")
    return lines


class Workers:
    """`chartpact serve --workers N` on a database, with a token for every client."""

    def __init__(self, count: int, url: str) -> None:
        namespace: dict[str, Callable[[object], None]] = {"__name__": "bench"}
        exec(OURS, namespace)
        database = open_database(url)
        namespace["add_tokens"](database)
        database.close()
        names = "calls_per_minute", "script_seconds_per_minute", "megapixels_per_minute"
        limits = ",".join(f"{name}={10**9}" for name in names)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, "-m", "chartpact", "serve", "--port", str(self.port)]
        command += ["--workers", str(count), "--db", url]
        environment = {**os.environ, "CHARTPACT_LIMITS": limits}
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
        for _ in range(1200):
            try:
                if httpx2.get(f"http://127.0.0.1:{self.port}/readyz", timeout=60).is_success:
                    break
            except httpx2.TransportError:
                pass
            time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def workers_and_databases(seconds: float) -> list[str]:
    """One and two processes on each database, and what the client itself takes of the cores.

    The first call of each kind comes as soon as the server says that it is ready.
    """
    calls = {
        "`list_indicators`, 8 clients": [tool("list_indicators", filter="rsi")] * 8,
        "`generate_chart`, 4 clients": [GOOD] * 4,
        "`register_indicator`, 2 clients": [tool("register_indicator", name="mine", source=SCRIPT)]
        * 2,
    }
    lines = [
        "| call | database | workers | first call after the start, ms | calls a second "
        "| p50, ms | p95, ms | the client's share of the cores |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    rows: dict[tuple[str, str, int], str] = {}
    postgres = start_or_skip({})  # which waits for the disk at every commit
    try:
        for kind in ("SQLite", "PostgreSQL"):
            for count in (1, 2):
                with tempfile.TemporaryDirectory() as folder:
                    url = f"sqlite:///{folder}/it.db" if kind == "SQLite" else postgres.create()
                    served = Workers(count, url)
                    try:
                        first = {
                            name: late(asked(served, call[:1], 1e-3))
                            for name, call in calls.items()
                        }
                        time.sleep(QUIET_S + 1)
                        for name, call in calls.items():
                            asked(served, call, 0.5)
                            row = _row(served, call, seconds)
                            rows[name, kind, count] = f"{first[name]:.1f} | {row}"
                    finally:
                        served.close()
    finally:
        postgres.close()
    for name in calls:
        lines += [f"| {name} | {k} | {c} | {rows[n, k, c]} |" for n, k, c in rows if n == name]
    return lines


def _row(served: Workers, calls: list[Request], seconds: float) -> str:
    cpu, started = time.process_time(), time.perf_counter()
    took = asked(served, calls, seconds)
    wall_s = time.perf_counter() - started
    share = 100 * (time.process_time() - cpu) / wall_s / count_cores()
    every = [one for each in took for one in each]
    middle = 1e3 * statistics.median(every)
    return f"{len(every) / wall_s:.0f} | {middle:.1f} | {late(took):.1f} | {share:.0f} %"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="put the tables into the docs")
    options.add_argument("--seconds", type=float, default=5, help="of every measurement")
    options.add_argument("--workers", action="store_true", help="one and two workers alone")
    options.add_argument("--tokens", action="store_true", help="the check of tokens alone")
    given = options.parse_args()
    if given.tokens:
        print("\n".join(check_of_tokens(given.seconds)))
        return
    if given.workers:
        text = f"{page.machine({'psycopg': version('psycopg')})}\n\n" + "\n".join(
            workers_and_databases(given.seconds)
        )
        print(text)
        if given.write:
            page.put("workers", text)
        return
    versions = {"mcp": version("mcp")}
    try:
        versions["fastmcp"] = version("fastmcp")
        compared = beside_fastmcp(given.seconds)
    except ModuleNotFoundError:
        compared = ["fastmcp is not installed: `make bench BENCH=server` installs it."]
    ours = Served(OURS)
    try:
        checks = check_of_tokens(given.seconds)
        tables = [verbs(ours, given.seconds), compared, checks, with_hostile(ours, given.seconds)]
    finally:
        ours.close()
    text = "\n\n".join("\n".join(lines) for lines in tables)
    text = f"{page.machine(versions)}\n\n{text}"
    print(text)
    if given.write:
        page.put("server", text)


if __name__ == "__main__":
    main()
