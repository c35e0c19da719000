"""Compressed answers, for slow lines: the page, its files and what it asks for."""

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

LEAST_BYTES = 1024
LEVEL = 5
# Pages with forms and tokens are left as they are: the size of a secret beside what somebody else
# chose would tell of it. So is MCP, whose clients are programs.
_PATHS = ("/api/v1/", "/static/", "/docs")


class Compressed:
    """Compresses the answers of some paths, where the browser wants that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._gzip = GZipMiddleware(app, minimum_size=LEAST_BYTES, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        app = self._gzip if path == "/" or path.startswith(_PATHS) else self._app
        await app(scope, receive, send)
