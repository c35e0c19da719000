"""What only the server needs, and the sentence where it is not installed."""

from importlib.util import find_spec

from chartpact.problem import Failure, Problem

SERVER = (
    "argon2",
    "fastapi",
    "httptools",
    "httpx2",
    "jinja2",
    "jwt",
    "markdown_it",
    "mcp",
    "starlette",
    "uvicorn",
)


def require_server(what: str) -> None:
    """Raises a Failure that names the command which installs the server, where that is missing."""
    missing = [name for name in SERVER if find_spec(name) is None]
    if missing:
        raise Failure(Problem("usage", f"{what} needs the server: pip install 'chartpact[server]'"))
