"""The house: which room may know which, and what may stand in a module.

The table of rooms is in docs/architecture.md, for people and for this test alike.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "chartpact"
PAGE = ROOT / "docs" / "architecture.md"


def table() -> dict[str, frozenset[str]]:
    """Each room of the page, from the bottom up, with the rooms it may know."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", PAGE.read_text(), re.MULTILINE)
    rooms: dict[str, frozenset[str]] = {}
    for room, may_know in rows:
        assert room not in rooms, f"{room} has two rows"
        names = may_know.split()
        known = {*names} - {"all", "above"}
        rooms[room] = frozenset(rooms) if names == ["all", "above"] else frozenset(known)
    return rooms


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("chartpact", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def modules() -> dict[str, Path]:
    return {module_of(path): path for path in SOURCE.rglob("*.py")}


def room_of(module: str) -> str:
    parts = module.split(".")
    if parts[1:3] == ["contracts", "workbench"]:
        return "workbench"
    return parts[1] if len(parts) > 1 else "chartpact"


def imports(path: Path, known: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """Every module of the package that a file imports, wherever in it the import stands."""
    package = module_of(path) if path.stem == "__init__" else module_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: 1 - node.level or None], base]).rstrip(".")
            inner = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in known else base for name in inner]
        else:
            names = _by_name(node)
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "chartpact")


def _by_name(node: ast.AST) -> list[str]:
    """The module that `import_module("chartpact.x")` names."""
    if not isinstance(node, ast.Call) or not node.args:
        return []
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    if called not in ("import_module", "__import__"):
        return []
    name = node.args[0]
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return [name.value]
    if isinstance(name, ast.JoinedStr) and isinstance(name.values[0], ast.Constant):
        return [str(name.values[0].value).rstrip(".")]
    return []


def test_every_room_of_the_house_is_in_the_table():
    rooms = {room_of(module) for module in modules()} - {"chartpact", "_version"}
    assert sorted(rooms - set(table())) == []
    assert sorted(set(table()) - rooms) == []


def test_rooms_know_only_rooms_that_stand_above_them_in_the_table():
    rooms, above = table(), set[str]()
    for room, may_know in rooms.items():
        assert may_know <= above, f"{room} may not know {sorted(may_know - above)}"
        above.add(room)


def test_no_import_leaves_what_the_table_allows():
    rooms, known = table(), modules()
    wrong = [
        f"{path.relative_to(SOURCE)}:{line}: {room_of(module)} may not know {room_of(target)}"
        for module, path in known.items()
        if module != "chartpact"
        for line, target in imports(path, known)
        if room_of(target) not in ("chartpact", "_version", "_native", room_of(module))
        and room_of(target) not in rooms[room_of(module)]
    ]
    assert wrong == []


def test_no_two_modules_import_each_other_in_a_circle():
    known = modules()
    graph = {
        module: {target for _, target in imports(path, known) if target in known} - {module}
        for module, path in known.items()
    }
    done: set[str] = set()

    def walk(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way[way.index(module) :], module])
        if module not in done:
            for target in sorted(graph[module]):
                if not module.startswith(f"{target}."):  # a package is there before its modules
                    walk(target, (*way, module))
            done.add(module)

    for module in graph:
        walk(module, ())


CHANGES = {
    *("append", "add", "update", "pop", "popitem", "setdefault", "clear", "insert", "extend"),
    *("remove", "discard", "move_to_end", "appendleft"),
}


def _state(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Module-level names that functions rebind or change."""
    top = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Global):
                yield node.lineno, ", ".join(node.names)
            elif isinstance(node, ast.Subscript | ast.Attribute):
                written = isinstance(node.ctx, ast.Store | ast.Del)
                if written and isinstance(node.value, ast.Name) and node.value.id in top:
                    yield node.lineno, node.value.id
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in CHANGES
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in top
            ):
                yield node.lineno, node.func.value.id


@pytest.mark.parametrize("path", modules().values(), ids=module_of)
def test_no_module_keeps_state_that_its_functions_change(path):
    tree = ast.parse(path.read_text())
    assert [f"line {line}: {name}" for line, name in _state(tree)] == []
