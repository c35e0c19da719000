"""The ASGI application: MCP, REST, health and a page, behind one front."""

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.types import ASGIApp

from chartpact._version import VERSION
from chartpact.catalogue import shipped
from chartpact.library.database import Database, open_database
from chartpact.library.local import LOCAL_USER
from chartpact.problem import Problem
from chartpact.render.options import Theme
from chartpact.server import chart_app, connect_page, docs_pages, jobs, mcp, rest, workbench_page
from chartpact.server.allowance import Allowance, Ledger, LoanMeter
from chartpact.server.auth import account_routes, oauth_routes
from chartpact.server.auth.authority import Authority, AuthSettings
from chartpact.server.auth.gate import Gate
from chartpact.server.auth.links import share_key
from chartpact.server.auth.requests import address_of, is_local
from chartpact.server.auth.secret import equal
from chartpact.server.auth.throttle import network_of
from chartpact.server.compression import Compressed
from chartpact.server.front import LOOPBACK, Front
from chartpact.server.identity import Identify, everybody_is_local
from chartpact.server.mcp_http import McpOverHttp
from chartpact.server.metrics import Metrics
from chartpact.server.readiness import Readiness
from chartpact.server.settings import Settings
from chartpact.server.shapes import SampleShape
from chartpact.server.uvicorn_server import at_shutdown
from chartpact.server.verbs import Verbs
from chartpact.work.lanes import Bounds, Workers

SEARCHES_PER_MINUTE = 60  # of the documentation, by address


def _user_over_http(context: Context[Any, Any]) -> str:
    """Whose MCP call it is, as the front found it; a call without a request is nobody's."""
    request = context.request_context.request
    if request is None:
        raise LookupError("an MCP call came past the front")
    return str(request.scope["chartpact.user"])


@dataclass(frozen=True)
class Server:
    """The application and what must be closed after it."""

    app: ASGIApp
    api: FastAPI
    front: Front
    over_http: McpOverHttp
    verbs: Verbs
    mcp: MCPServer[Any]
    database: Database
    workers: Workers
    authority: Authority | None
    resources: ExitStack

    def drain(self) -> None:
        """Takes no more requests, and ends the streams that would go on for ever."""
        self.front.draining = True
        self.over_http.drain()

    def close(self) -> None:
        """Closes what the application holds, as its lifespan does; the second time nothing."""
        self.resources.close()


def create(
    settings: Settings,
    *,
    identify: Identify | AuthSettings = everybody_is_local,
    hosts: tuple[str, ...] = LOOPBACK,
    extend: Callable[[MCPServer[Any]], None] | None = None,
    stdio: bool = False,
    metrics: Metrics | None = None,
    clock: Callable[[], float] | None = None,
) -> Server:
    """A server on these settings; `extend` may add to its MCP tools before it is built.

    With AuthSettings it has accounts and an authorization server of its own.
    With `stdio` it is for one client on standard input and output, who is the local user.
    Tries to sign in, and all rates that processes share, are counted by the clock.
    """
    metrics = metrics or Metrics()
    resources = ExitStack()
    database = resources.enter_context(closing(open_database(settings.database)))
    database.check_writable()
    bounds = Bounds(memory_mb=settings.limits.job_megabytes)
    workers = Workers(
        settings.workers,
        prepare=jobs.warm_up if settings.warm else jobs.draw_a_little,
        bounds=bounds,
        environment=jobs.ENVIRONMENT,
        advice="ask for fewer bars or indicators",
        on_start=partial(metrics.observe, "chartpact_queue_seconds"),
    )
    resources.callback(workers.close)
    # Processes that share a database share what users may ask for; hosts share no SQLite file.
    alone = database.embedded and settings.processes == 1
    ledger = None
    if not alone:
        ledger = resources.enter_context(closing(Ledger(database, clock or time.time)))
    accounts = isinstance(identify, AuthSettings)
    verbs = Verbs(replace(settings, accounts=accounts), database, workers, ledger, metrics)
    resources.callback(verbs.drawings.close)
    state_key = None if alone else share_key(database, "request state")
    tools = mcp.build(verbs, (lambda _: LOCAL_USER) if stdio else _user_over_http, state_key)
    if extend is not None:
        extend(tools)
    over_http = McpOverHttp(tools, tools.long_tools, settings.limits.body_bytes)
    authority = None
    if isinstance(identify, AuthSettings):
        authority = Authority(identify, database, ledger, clock or time.monotonic)
        resources.callback(authority.close)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if settings.warm:
            workers.warm(jobs.warm_up_sandbox)
        shipped()  # which lists of indicators need
        while settings.processes > 1 and not workers.ready:
            await asyncio.sleep(0.05)  # the other processes answer until this one can
        # What was imported stays: the collector need not search it while somebody waits.
        gc.collect()
        gc.freeze()
        tasks = [asyncio.create_task(verbs.following.read_for_ever())]
        if authority is not None:
            tasks.append(asyncio.create_task(authority.purge_for_ever()))
        with resources, at_shutdown(server.drain):
            async with over_http.run():
                yield
            for task in tasks:
                task.cancel()

    app = FastAPI(
        title="chartpact",
        version=VERSION,
        description="Trading indicators you can write yourself, and charts a program can trust.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # which would write the document anew for each request
    )
    # Included routers would be built twice, and the second time by the first request.
    app.router.routes.extend([*rest.routes(verbs).routes, *rest.picture_routes(verbs).routes])
    rest.declare_limits(app, settings.limits)
    app.add_middleware(Compressed)
    rest.answer_failures(app)
    open_to_all = identify is everybody_is_local
    _add_pages(app, verbs, tools, open_to_all=open_to_all, accounts=authority is not None)
    _add_watch(app, Readiness(database, workers), metrics, settings.metrics_token)
    identified: dict[str, Any] = {"identify": identify}
    if authority is not None:
        routes = [*oauth_routes.routes(authority), *account_routes.routes(authority)]
        app.router.routes.extend(routes)
        gate = Gate(authority)
        forms = {route.path for route in routes}
        identified = {"identify": gate, "challenge": gate.challenge, "forms": forms}
    front = Front(
        app,
        over_http,
        limits=settings.limits,
        hosts=hosts,
        read_body=verbs.read_body,
        ledger=ledger,
        metrics=metrics,
        **identified,
    )
    server = Server(
        front, app, front, over_http, verbs, tools, database, workers, authority, resources
    )
    return server


def _serve_page(app: FastAPI, path: str) -> Callable[[Any], Any]:
    """A decorator: the function answers GET and HEAD at the path, outside the OpenAPI document."""
    return app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)


def _add_watch(
    app: FastAPI, readiness: Readiness, metrics: Metrics, metrics_token: str | None
) -> None:
    """The routes for monitoring."""

    @_serve_page(app, "/healthz")
    async def healthz() -> JSONResponse:
        """The process answers."""
        return JSONResponse({"ok": True})

    @_serve_page(app, "/readyz")
    async def readyz() -> JSONResponse:
        """The database can be written too, and the workers have started."""
        obstacles = await readiness.find_obstacles()
        return JSONResponse({"ok": not obstacles, **obstacles}, 503 if obstacles else 200)

    @_serve_page(app, "/metrics")
    async def tell_metrics(request: Request) -> Response:
        """For who is on this machine, or shows the token that the operator chose."""
        scheme, _, shown_token = request.headers.get("authorization", "").partition(" ")
        bears = metrics_token is not None and scheme.lower() == "bearer"
        knows = bears and equal(shown_token, str(metrics_token))
        if not (knows or is_local(request)):
            message = "metrics need a local address or CHARTPACT_METRICS_TOKEN"
            return JSONResponse(Problem("forbidden", message).to_json(), 403)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")


def _add_pages(
    app: FastAPI,
    verbs: Verbs,
    tools: MCPServer[Any],
    *,
    open_to_all: bool,
    accounts: bool,
) -> None:
    # Only who is at this machine is told where on it the program lives.
    command = connect_page.find_command(sys.executable) if open_to_all else "chartpact"

    @_serve_page(app, "/")
    async def workbench() -> Response:
        return workbench_page.workbench()

    @_serve_page(app, "/static/{path:path}")
    async def static(path: str, request: Request) -> Response:
        return workbench_page.static(path, request.headers.get("if-none-match"))

    @_serve_page(app, "/favicon.ico")
    async def favicon() -> Response:
        return workbench_page.static("favicon.svg")

    @_serve_page(app, "/connect")
    async def connect(request: Request) -> HTMLResponse:
        address = f"{request.url.scheme}://{request.url.netloc}"
        door = connect_page.Door(address, not open_to_all, command, accounts)
        shown_tools = [tool for tool in await tools.list_tools() if tool.meta != chart_app.APP_ONLY]
        return HTMLResponse(connect_page.html(door, shown_tools), headers=connect_page.HEADERS)

    # Strangers search: one at a time, in a thread, as many times a minute as a person would.
    searches = LoanMeter(Allowance("searches of the documentation", SEARCHES_PER_MINUTE), None)
    searching = asyncio.Lock()

    @cache
    def write_openapi() -> bytes:
        return json.dumps(app.openapi(), separators=(",", ":")).encode()

    @_serve_page(app, "/openapi.json")
    async def openapi() -> Response:
        return Response(write_openapi(), media_type="application/json")

    @_serve_page(app, "/docs")
    async def search_docs(request: Request, q: str = "") -> Response:
        if q:
            await searches.spend(network_of(address_of(request)))
        async with searching:
            return await asyncio.to_thread(docs_pages.search, q)

    @_serve_page(app, "/docs/{path:path}")
    def docs(path: str) -> Response:
        return docs_pages.show(path)

    @_serve_page(app, "/sample.svg")
    async def sample(theme: Theme = "dark", shape: SampleShape = "wide") -> Response:
        drawn = await verbs.draw_sample(theme, shape)
        return Response(drawn, media_type="image/svg+xml", headers=connect_page.PICTURE_HEADERS)
