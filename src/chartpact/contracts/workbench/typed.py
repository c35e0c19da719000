"""The type of a contract's state: as JSON Schema, and as Python source for type checkers."""

import json
import keyword
from typing import Any

from chartpact.contracts.compile import Contract
from chartpact.contracts.kinds import Kind
from chartpact.contracts.outputs import Leaf, Many, Map, Node, One

MAX_LINE = 100

Json = dict[str, Any]

_SCHEMAS: dict[str, Json] = {
    "number": {"type": "number"},
    "text": {"type": "string"},
    "bool": {"type": "boolean"},
    "color": {"type": "string", "pattern": "^#[0-9a-f]{6}$"},
    "time": {"type": "integer", "description": "milliseconds since 1970 in UTC"},
    "none": {"type": "null"},
}
_PYTHON = {
    "number": "float",
    "text": "str",
    "bool": "bool",
    "color": "str",
    "time": "int",
    "none": "None",
}


def json_schema(contract: Contract) -> Json:
    """The JSON Schema (2020-12) of the state that is read under a contract."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:chartpact:schema:state:{contract.name}:{contract.version}",
        "title": f"State of {contract.title}",
        **_schema(contract.output.root),
    }


def _schema(node: Node) -> Json:
    match node:
        case Leaf():
            return _leaf_schema(node.kind)
        case Map():
            return {
                "type": "object",
                "properties": {name: _schema(each) for name, each in node.items.items()},
                "required": list(node.items),
                "additionalProperties": False,
            }
        case One():
            found = _schema(node.give)
            return {"anyOf": [found, {"type": "null"}]} if node.nullable else found
        case Many():
            listed = {"type": "array", "items": _schema(node.give)}
            if not node.split:
                return listed
            return {
                "type": "object",
                "properties": dict.fromkeys(node.split, listed),
                "required": list(node.split),
                "additionalProperties": False,
            }


def _leaf_schema(kind: Kind) -> Json:
    if kind.name == "enum":
        return {"enum": [*kind.names, None] if kind.nullable else list(kind.names)}
    schema = _SCHEMAS[kind.name]
    if kind.nullable and kind.name != "none":
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


class _Classes:
    """The classes of one contract's state, the inner ones first."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def of(self, node: Node, name: str) -> str:
        """The annotation of a node; its classes are written on the way."""
        match node:
            case Leaf():
                return _annotation(node.kind)
            case Map():
                return self._dict(node, name)
            case One():
                return self._dict(node.give, name) + (" | None" if node.nullable else "")
            case Many():
                item = f"list[{self._dict(node.give, name + 'Item')}]"
                if not node.split:
                    return item
                return self._class(name, dict.fromkeys(node.split, item))

    def _dict(self, node: Map, name: str) -> str:
        fields = {each: self.of(inside, name + _camel(each)) for each, inside in node.items.items()}
        return self._class(name, fields)

    def _class(self, name: str, fields: dict[str, str]) -> str:
        if any(keyword.iskeyword(each) for each in fields):
            listed = ", ".join(f"{each!r}: {kind}" for each, kind in fields.items())
            self.written.append(f"{name} = TypedDict({name!r}, {{{listed}}})\n")
        else:
            lines = "\n".join(_field(each, kind) for each, kind in fields.items())
            self.written.append(f"class {name}(TypedDict):\n{lines or '    pass'}\n")
        return name


def _field(name: str, kind: str) -> str:
    line = f"    {name}: {kind}"
    if len(line) <= MAX_LINE or not kind.startswith("Literal["):
        return line
    inside, _, rest = kind.removeprefix("Literal[").rpartition("]")
    names = "".join(f"        {each},\n" for each in inside.split(", "))
    return f"    {name}: Literal[\n{names}    ]{rest}"


def _annotation(kind: Kind) -> str:
    if kind.name == "enum":
        names = ", ".join(json.dumps(each) for each in kind.names)
        told = f"Literal[{names}]"
    else:
        told = _PYTHON[kind.name]
    return f"{told} | None" if kind.nullable and kind.name != "none" else told


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def class_name(contract: Contract) -> str:
    return _camel(contract.name)


def python_classes(contract: Contract) -> str:
    """The classes of a contract's state as Python source, without imports."""
    classes = _Classes()
    classes.of(contract.output.root, class_name(contract))
    return "\n\n".join(classes.written)


def python_source(contract: Contract) -> str:
    """A Python module with the type of a contract's state."""
    title = "".join(c if c.isprintable() and c not in '"\\' else " " for c in contract.title)
    about = f"The state of {title}, as read under {contract.name} {contract.version}."
    return f'"""{about}"""\n\nfrom typing import Literal, TypedDict\n\n\n{python_classes(contract)}'
