"""The type of a contract's state: as JSON Schema, and as Python source for type checkers."""

import json
import keyword
from typing import Any, NamedTuple

from chartpact.contracts.engine import Contract
from chartpact.contracts.engine.outputs import Attached, Leaf, Many, Map, Node, One
from chartpact.contracts.expressions.values import Kind

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
        **_schema(contract.output),
    }


def _schema(node: Node) -> Json:
    match node:
        case Leaf():
            return _leaf_schema(node.kind)
        case Map():
            return {
                "type": "object",
                "properties": {name: _schema(inner) for name, inner in node.items.items()},
                "required": list(node.items),
                "additionalProperties": False,
            }
        case One() | Attached():
            given = _schema(node.give)
            return {"anyOf": [given, {"type": "null"}]} if node.nullable else given
        case Many():
            listed = {"type": "array", "items": _schema(node.give)}
            if node.split is None:
                return listed
            return {
                "type": "object",
                "properties": dict.fromkeys(node.lists, listed),
                "required": list(node.lists),
                "additionalProperties": False,
            }


def _leaf_schema(kind: Kind) -> Json:
    if kind.name == "enum":
        return {"enum": [*kind.names, None] if kind.nullable else list(kind.names)}
    schema = _SCHEMAS[kind.name]
    if kind.nullable and kind.name != "none":
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


class _Annotation(NamedTuple):
    """A Python type; that of an enum can be broken into lines, one for each name."""

    text: str
    names: tuple[str, ...] = ()
    nullable: bool = False

    def __str__(self) -> str:
        return f"{self.text} | None" if self.nullable else self.text

    def field(self, name: str) -> str:
        """The line, or lines, that declare a field of this type."""
        line = f"    {name}: {self}"
        if len(line) <= MAX_LINE or not self.names:
            return line
        names = "".join(f"        {json.dumps(option)},\n" for option in self.names)
        return f"    {name}: Literal[\n{names}    ]{' | None' if self.nullable else ''}"


class _Classes:
    """The classes of one contract's state, the inner ones first."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def add(self, node: Node, name: str) -> _Annotation:
        """The annotation of a node; its classes are written on the way."""
        match node:
            case Leaf():
                return _annotation(node.kind)
            case Map():
                return self._dict(node, name)
            case One() | Attached():
                return self._dict(node.give, name)._replace(nullable=node.nullable)
            case Many():
                item = _Annotation(f"list[{self._dict(node.give, name + 'Item')}]")
                if node.split is None:
                    return item
                return self._class(name, dict.fromkeys(node.lists, item))

    def _dict(self, node: Map, name: str) -> _Annotation:
        return self._class(
            name, {key: self.add(inner, name + _camel(key)) for key, inner in node.items.items()}
        )

    def _class(self, name: str, fields: dict[str, _Annotation]) -> _Annotation:
        if all(key.isidentifier() and not keyword.iskeyword(key) for key in fields):
            lines = "\n".join(annotation.field(key) for key, annotation in fields.items())
            self.written.append(f"class {name}(TypedDict):\n{lines or '    pass'}\n")
        else:
            listed = ", ".join(f"{key!r}: {annotation}" for key, annotation in fields.items())
            self.written.append(f"{name} = TypedDict({name!r}, {{{listed}}})\n")
        return _Annotation(name)


def _annotation(kind: Kind) -> _Annotation:
    nullable = kind.nullable and kind.name != "none"
    if kind.name == "enum":
        names = ", ".join(map(json.dumps, kind.names))
        return _Annotation(f"Literal[{names}]", kind.names, nullable)
    return _Annotation(_PYTHON[kind.name], nullable=nullable)


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def class_name(contract: Contract) -> str:
    return _camel(contract.name)


def python_classes(contract: Contract) -> str:
    """The classes of a contract's state as Python source, without imports."""
    classes = _Classes()
    classes.add(contract.output, class_name(contract))
    return "\n\n".join(classes.written)


def python_types(contract: Contract) -> str:
    """The classes of a contract's state with the import that they need."""
    return f"from typing import Literal, TypedDict\n\n\n{python_classes(contract)}"


def python_source(contract: Contract) -> str:
    """A Python module with the type of a contract's state."""
    title = "".join(c if c.isprintable() and c not in '"\\' else " " for c in contract.title)
    about = f"The state of {title}, as read under {contract.name} {contract.version}."
    return f'"""{about}"""\n\n{python_types(contract)}'
