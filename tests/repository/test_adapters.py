"""Other people's libraries are used by their public names, but for one adapter each."""

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from chartpact.server import mcp_stdio, uvicorn_server

SOURCE = Path(__file__).resolve().parents[2] / "src" / "chartpact"
OWN = "chartpact"
# Of Python itself, which these modules know: what argparse calls its parts, and named tuples.
OF_PYTHON = {"verb._actions", "self._option_string_actions"}
OF_TUPLES = {"_asdict", "_fields", "_make", "_replace"}
# Modules that use what a library does not offer, each of which says why.
ADAPTERS = {"server/mcp_stdio.py": {"server._lowlevel_server"}}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def names_of(tree: ast.AST) -> Iterator[str]:
    """Every name that a module defines, its attributes of `self` included."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def foreign(tree: ast.AST, own: set[str]) -> Iterator[str]:
    """The private names that a module uses although none of ours defines them."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module)) if module in sys.stdlib_module_names:
                pass
            case ast.Attribute(attr=name) if is_private(name) and name not in own:
                yield ast.unparse(node)
            case ast.Import(names=names):
                parts = [part for name in names for part in name.name.split(".")]
                yield from filter(is_private, () if parts[0] == OWN else parts)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                parts = [*module.split("."), *(name.name for name in names)]
                yield from filter(is_private, () if parts[0] == OWN else parts)
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr" | "delattr"),
                args=[_, ast.Constant(value=str(name)), *_],
            ) if is_private(name) and name not in own:
                yield name


TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text())
    for path in SOURCE.rglob("*.py")
}
DEFINED = OF_TUPLES | {name for tree in TREES.values() for name in names_of(tree)}


def test_no_private_name_of_a_library_is_used_outside_the_adapters():
    used = {path: {*foreign(tree, DEFINED)} - OF_PYTHON for path, tree in TREES.items()}
    assert {path: names for path, names in used.items() if names} == ADAPTERS


@pytest.mark.parametrize(
    "text",
    [
        "server._tool_manager.list_tools()",
        "server._mcp = 1",
        "from mcp.server._otel import Middleware",
        "from starlette import _utils",
        "import uvicorn._compat",
        "getattr(engine, '_connection_cls')",
    ],
)
def test_the_search_finds_every_way_of_using_one(text):
    assert [*foreign(ast.parse(text), set())]


def test_the_sdk_is_what_stdio_was_tried_on():
    """When this fails, try the stdio tests on the new release, then widen the range."""
    assert _in_range(version("mcp"), mcp_stdio.TRIED)
    server = MCPServer("test", log_level="WARNING")
    lower = mcp_stdio.find_lower(server)
    assert isinstance(lower, Server)
    assert lower.create_initialization_options().server_name == "test"


def test_uvicorn_is_what_the_limits_of_heads_were_tried_on():
    """When this fails, try `test_uvicorn_server.py` on the new release, then widen the range."""
    assert _in_range(version("uvicorn"), uvicorn_server.TRIED)
    overridden = {name for name in vars(uvicorn_server.BoundedHttp) if not name.startswith("_")}
    overridden -= {"idle", "abort"}  # which are ours
    theirs = uvicorn_server.BoundedHttp.__mro__[1]
    assert overridden <= {name for name in dir(theirs) if not name.startswith("_")}


def _in_range(release: str, tried: tuple[str, str]) -> bool:
    def number(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")[:2])

    first, last = tried
    return number(first) <= number(release) <= number(last)
