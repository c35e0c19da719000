"""The ASGI application: MCP, REST, health and a page, behind one front."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.subscriptions import ListenHandler
from starlette.types import ASGIApp

from chartpact._version import VERSION
from chartpact.library import open_database
from chartpact.server import jobs, mcp, page, rest
from chartpact.server.exchanges import Exchanges
from chartpact.server.front import LOOPBACK, Front
from chartpact.server.identity import LOCAL_USER, Identify, everybody_is_local
from chartpact.server.settings import Settings
from chartpact.server.verbs import Verbs
from chartpact.server.workers import Workers


def user_of(context: Context[Any, Any]) -> str:
    """Whose MCP call it is: over HTTP what the front found, over stdio the local user."""
    try:
        request = context.request_context.request
    except (LookupError, ValueError):
        return LOCAL_USER
    return LOCAL_USER if request is None else str(request.scope["chartpact.user"])


@dataclass(frozen=True)
class Server:
    """The application and what must be closed after it."""

    app: ASGIApp
    api: FastAPI
    front: Front
    verbs: Verbs
    mcp: MCPServer[Any]
    engine: sa.Engine
    workers: Workers

    def drain(self) -> None:
        """Takes no more requests, and ends the streams that would go on for ever."""
        self.front.draining = True
        listen = self.mcp._lowlevel_server.get_request_handler("subscriptions/listen")
        if listen is not None and isinstance(listen.handler, ListenHandler):
            listen.handler.close()

    def close(self) -> None:
        self.workers.close()
        self.engine.dispose()


def create(
    settings: Settings,
    *,
    identify: Identify = everybody_is_local,
    hosts: tuple[str, ...] = LOOPBACK,
    extend: Callable[[MCPServer[Any]], None] | None = None,
) -> Server:
    """A server on these settings; `extend` may add to its MCP tools before it is built."""
    engine = open_database(settings.database)
    workers = Workers(settings.workers)
    verbs = Verbs(settings, engine, workers)
    tools = mcp.build(verbs, user_of)
    if extend is not None:
        extend(tools)
    spoken = Exchanges(tools, mcp.LONG, settings.limits.body_bytes)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        workers.warm(jobs.ready)
        async with spoken.run():
            yield

    app = FastAPI(
        title="chartpact",
        version=VERSION,
        description="Trading indicators you can write yourself, and charts a program can trust.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(rest.routes(verbs))
    rest.answer_refusals(app)
    _add_pages(app, engine, verbs)
    front = Front(app, spoken, identify=identify, limits=settings.limits, hosts=hosts)
    return Server(front, app, front, verbs, tools, engine, workers)


def _add_pages(app: FastAPI, engine: sa.Engine, verbs: Verbs) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        """The process answers."""
        return JSONResponse({"ok": True})

    @app.get("/readyz", include_in_schema=False)
    def readyz() -> JSONResponse:
        """The database answers too."""
        try:
            with engine.connect() as connection:
                connection.execute(sa.text("SELECT 1"))
        except sa.exc.SQLAlchemyError:
            return JSONResponse({"ok": False, "database": "unreachable"}, 503)
        return JSONResponse({"ok": True})

    @app.get("/", include_in_schema=False)
    async def home(request: Request) -> HTMLResponse:
        address = f"{request.url.scheme}://{request.url.netloc}"
        return HTMLResponse(page.html(address), headers=page.HEADERS)

    @app.get("/sample.svg", include_in_schema=False)
    async def sample() -> Response:
        return Response(await verbs.sample(), media_type="image/svg+xml", headers=page.HEADERS)
