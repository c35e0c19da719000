"""Names: one public class name has one meaning in the whole project."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "chartpact"


def repeated(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """The public class names that several modules define, or one of them twice."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_public_classes_have_one_name():
    files = [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]
    trees = {str(path.relative_to(PACKAGE)): ast.parse(path.read_text()) for path in files}
    assert repeated(trees) == {}


def test_a_name_that_is_used_twice_is_found():
    planted = {"bars/table.py": "class Table: ...", "drawing.py": "class Table: ...\nclass _A: ..."}
    trees = {path: ast.parse(text) for path, text in planted.items()}
    assert repeated(trees) == {"Table": ["bars/table.py:1", "drawing.py:1"]}
