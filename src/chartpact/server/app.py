"""The ASGI application: MCP, REST, health and a page, behind one front."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse, Response
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from chartpact._version import VERSION
from chartpact.library import open_database
from chartpact.server import mcp, page, rest
from chartpact.server.front import Front
from chartpact.server.identity import LOCAL_USER, Identify, everybody_is_local
from chartpact.server.limits import Allowance
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
    front: Front
    verbs: Verbs
    mcp: MCPServer[Any]
    engine: sa.Engine
    workers: Workers

    def close(self) -> None:
        self.workers.close()
        self.engine.dispose()


def create(
    settings: Settings,
    *,
    identify: Identify = everybody_is_local,
    hosts: tuple[str, ...] = ("127.0.0.1:*", "localhost:*", "[::1]:*"),
    extend: Callable[[MCPServer[Any]], None] | None = None,
) -> Server:
    """A server on these settings; `extend` may add to its MCP tools before it is built."""
    engine = open_database(settings.database)
    workers = Workers(settings.workers)
    verbs = Verbs(settings, engine, workers)
    tools = mcp.build(verbs, user_of)
    if extend is not None:
        extend(tools)
    mounted = tools.streamable_http_app(
        stateless_http=True,
        max_request_body_size=settings.limits.body_bytes,
        transport_security=TransportSecuritySettings(
            allowed_hosts=list(hosts),
            allowed_origins=[f"http://{host}" for host in hosts],
        ),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with tools.session_manager.run():
            yield
        front.draining = True

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
    _add_pages(app, engine)
    app.mount("/", mounted)
    front = Front(
        app,
        identify=identify,
        calls=Allowance("calls", settings.limits.calls_per_minute),
        body_bytes=settings.limits.body_bytes,
    )
    return Server(front, front, verbs, tools, engine, workers)


def _add_pages(app: FastAPI, engine: sa.Engine) -> None:
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
    async def home() -> HTMLResponse:
        return HTMLResponse(page.html(), headers=page.HEADERS)

    @app.get("/sample.svg", include_in_schema=False)
    def sample() -> Response:
        return Response(page.sample_svg(), media_type="image/svg+xml")
