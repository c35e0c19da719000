"""The web page's files: what they are called, how long they last, and what they may do."""

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "ttf": "font/ttf",
    "woff2": "font/woff2",
    "txt": "text/plain",
}
FOREVER = "public, max-age=31536000, immutable"
CHECKED = "no-cache"  # kept, and asked for again whether it has changed

_EDITION = re.compile(r"[0-9a-f]{12}")
_STATIC = files("chartpact.server") / "static"
# Folders of files whose contents never change under one name.
_FOLDERS = {"vendor": _STATIC / "vendor", "fonts": files("chartpact.render") / "fonts"}


@cache
def _files() -> dict[str, Traversable]:
    """Every file by its path under /static/."""
    known = {f"js/{file.name}": file for file in (_STATIC / "js").iterdir()}
    known |= {file.name: file for file in _STATIC.iterdir() if file.is_file()}
    for folder, place in _FOLDERS.items():
        known |= {f"{folder}/{file.name}": file for file in place.iterdir()}
    return {
        path: file
        for path, file in known.items()
        if file.is_file() and path.rpartition(".")[2] in TYPES
    }


def read_style(*names: str) -> tuple[Markup, str]:
    """Stylesheets as the text of one style element, and the source that a policy names it by."""
    style = "".join((_STATIC / name).read_text("utf-8") for name in names)
    return Markup(style), f"'sha256-{b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


@cache
def edition() -> str:
    """The folder of the addresses of the page's files: a hash of them all.

    Modules name each other relatively, so all of them are asked for there, each of them once.
    """
    whole = hashlib.sha256()
    for path, file in sorted(_files().items()):
        whole.update(f"{path} ".encode() + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:12]


def static(path: str, known: str | None = None) -> Response:
    """A file of the page; `known` is the tag of what the browser has of it.

    A page that is open while the server is renewed asks in an earlier folder.
    """
    folder, _, rest = path.partition("/")
    if _EDITION.fullmatch(folder):
        path = rest
    if path not in _files():
        raise HTTPException(404)
    lasts = FOREVER if folder in (edition(), *_FOLDERS) else CHECKED
    return _respond(path, lasts, known)


def workbench() -> Response:
    """The page itself, the same for everybody: who it is for, it asks the server."""
    return _respond("workbench.html", CHECKED)


@cache
def _read(path: str) -> tuple[bytes, str]:
    """A file, and the tag of what is in it."""
    content = _files()[path].read_bytes()
    if path == "workbench.html":
        content = content.replace(b'"/static/', f'"/static/{edition()}/'.encode())
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def _respond(path: str, lasts: str, known: str | None = None) -> Response:
    content, tag = _read(path)
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": lasts,
        "ETag": tag,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if known == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=TYPES[path.rpartition(".")[2]], headers=headers)
