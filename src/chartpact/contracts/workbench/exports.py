"""Exports of a contract: a page for people, and the type of its state.

The page has the five sections, the state table, the output and the examples. The type is a JSON
Schema, and Python source for type checkers.
"""

import json
import keyword
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from chartpact.contracts.check.config import describe
from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.machines import FORGET, MachinePlan
from chartpact.contracts.check.outputs import Attached, AttachedList, Leaf, Many, Map, Node, One
from chartpact.contracts.check.totality import spell
from chartpact.contracts.language.model import Element
from chartpact.contracts.language.values import Kind
from chartpact.contracts.workbench.examples import Example
from chartpact.snapshot import CHANNELS

MAX_LINE = 100

Json = dict[str, Any]

# For each kind of value, its JSON Schema and its Python type.
_TYPES: dict[str, tuple[Json, str]] = {
    "number": ({"type": "number"}, "float"),
    "text": ({"type": "string"}, "str"),
    "bool": ({"type": "boolean"}, "bool"),
    "color": ({"type": "string", "pattern": "^#[0-9a-f]{6}$"}, "str"),
    "time": ({"type": "integer", "description": "milliseconds since 1970 in UTC"}, "int"),
    "none": ({"type": "null"}, "None"),
}


# ------------------------------------------------------------------------------------------- types


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
        case Leaf(kind=Kind(name="enum") as kind):
            return {"enum": [*kind.names, None] if kind.nullable else list(kind.names)}
        case Leaf(kind=kind):
            return _or_null(_TYPES[kind.name][0], kind.nullable and kind.name != "none")
        case Map():
            return _object({name: _schema(inner) for name, inner in node.items.items()})
        case One() | Attached():
            return _or_null(_schema(node.give), node.nullable)
        case AttachedList():
            return {"type": "array", "items": _schema(node.give)}
        case Many():
            items = {"type": "array", "items": _schema(node.give)}
            return items if node.split is None else _object(dict.fromkeys(node.lists, items))


def _or_null(schema: Json, nullable: bool) -> Json:
    return {"anyOf": [schema, {"type": "null"}]} if nullable else schema


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


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
            case AttachedList():
                return _Annotation(f"list[{self._dict(node.give, name + 'Item')}]")
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
    return _Annotation(_TYPES[kind.name][1], nullable=nullable)


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def python_classes(contract: Contract) -> str:
    """The classes of a contract's state as Python source, without imports."""
    classes = _Classes()
    classes.add(contract.output, _camel(contract.name))
    return "\n\n".join(classes.written)


def python_types(contract: Contract) -> str:
    """The classes of a contract's state with the import that they need."""
    return f"from typing import Literal, TypedDict\n\n\n{python_classes(contract)}"


def python_source(contract: Contract) -> str:
    """A Python module with the type of a contract's state."""
    title = "".join(c if c.isprintable() and c not in '"\\' else " " for c in contract.title)
    about = f"The state of {title}, as read under {contract.name} {contract.version}."
    return f'"""{about}"""\n\n{python_types(contract)}'


# -------------------------------------------------------------------------------------------- page


def page(contract: Contract, examples: Sequence[Example] = ()) -> str:
    """The page, in Markdown."""
    parts = [
        f"# {contract.title}\n",
        f"Contract `{contract.name}`, version {contract.version}.\n",
        f"{contract.file.notes}\n" if contract.file.notes else "",
        *_identity(contract),
        *_config(contract),
        *_channels(contract),
        *_elements(contract),
        "## 4 State machine\n",
        *chain.from_iterable(map(_machine, contract.machines.values())),
        "" if contract.machines else "There are no states.\n",
        *_edge_cases(contract),
        "## Typed output\n",
        f"```python\n{python_types(contract).strip()}\n```\n",
        "As JSON Schema:\n",
        f"```json\n{json.dumps(json_schema(contract), indent=1)}\n```\n",
        *_events(contract),
        *_examples(examples),
    ]
    return "\n".join(part for part in parts if part)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text: object) -> str:
    return f"`{' '.join(str(text).split())}`"


def _identity(contract: Contract) -> Iterator[str]:
    identity = contract.file.identity
    yield "## 1 Identity\n"
    versions = ", ".join(map(str, identity.script_versions or ()))
    fields = {**dict(identity), "script_versions": versions}
    yield table(["field", "value"], [(f"`{name}`", text) for name, text in fields.items() if text])


def _config(contract: Contract) -> Iterator[str]:
    if not contract.file.config:
        return
    yield "### What a user may have customised\n"
    rows = []
    for name, key in contract.file.config.items():
        default = "required"
        if key.from_:
            default = f"taken from `{key.from_}`"
        if key.has_default:
            default = "not set" if key.default is None else code(json.dumps(key.default))
        rows.append((f"`{name}`", describe(key), default, key.about or ""))
    yield table(["key", "takes", "default", "about"], rows)
    for name, values in contract.file.profiles.items():
        listed = ", ".join(f"`{key}` = {code(value)}" for key, value in values.items())
        yield f"Profile `{name}`: {listed}.\n"


def _channels(contract: Contract) -> Iterator[str]:
    yield "## 2 Visual channels\n"
    rows = []
    for channel in CHANNELS:
        role = contract.file.role(channel)
        needs, tracked = (
            ", ".join(f"`{need.name}`" for need in columns[channel])
            for columns in (contract.needs, contract.tracking)
        )
        rows.append((channel, role or "must be empty", needs, tracked))
    yield table(["channel", "role", "needed to read", "needed besides to follow"], rows)


def _elements(contract: Contract) -> Iterator[str]:
    yield "## 3 Element dictionary\n"
    if contract.file.encodings:
        yield "Looks and their meanings:\n"
        rows = [
            (f"`{table}`", f"`{name}`", ", ".join(code(value) for value in values))
            for table, names in contract.file.encodings.items()
            for name, values in names.items()
        ]
        yield table(["encoding", "meaning", "look"], rows)
    for name, element in contract.file.elements.items():
        yield f"### `{name}`\n"
        if element.meaning:
            yield f"{element.meaning[:1].upper()}{element.meaning[1:]}.\n"
        if element.ignore:
            yield f"Ignored: {element.ignore}.\n"
        yield table(["word", "rule"], list(_words(element)))


def _words(element: Element) -> Iterator[tuple[str, str]]:
    yield "from", f"`{element.from_}`"
    if element.where is not None:
        yield "where", code(element.where)
    if element.group is not None:
        yield "group", ", ".join(f"`{name}`" for name in element.group)
    if element.each is not None:
        yield "each", f"`{element.each}`"
    if element.newest is not None:
        per = f" of each {', '.join(f'`{name}`' for name in element.per)}" if element.per else ""
        top = f", the greatest {element.top}" if element.top else ""
        yield "newest", f"`{element.newest}`{per}{top}"
    for name, part in (element.parts or {}).items():
        way, text = part.choice
        yield f"part `{name}`", f"{way} {code(text)}{', optional' if part.optional else ''}"
    if element.ignore is None:
        yield "count", _count(element.count)
    if element.decode is not None:
        fields = ", ".join(f"`{name}` {f.type}" for name, f in element.decode.fields.items())
        extra = element.decode.pattern or element.decode.tag
        shown = f" {code(extra)}" if extra else ""
        yield "decode", f"{code(element.decode.of)} as {element.decode.as_}{shown}: {fields}"
    for name, text in element.reads.items():
        yield f"reads `{name}`", code(text)
    for name, attach in element.attach.items():
        ranges = "; ".join(
            f"{code(field)} from {code(ends[0])} to {code(ends[1])}"
            for field, ends in attach.within.items()
        )
        rest = f" where {code(attach.where)}" if attach.where else ""
        rest += f", the least {code(attach.nearest)}" if attach.nearest else ""
        rest += ", one to one" if attach.exclusive else ""
        yield f"attach `{name}`", f"{_count(attach.count)} of `{attach.from_}`: {ranges}{rest}"
    if element.key is not None:
        yield "key", ", ".join(map(code, element.key))
    if element.evicted is not None:
        yield "evicted", f"the oldest by `{element.evicted}` may have lost something to the cap"
    if element.changes:
        yield "changes", element.changes


def _count(count: tuple[int, int | None]) -> str:
    low, high = count
    if low == high:
        return f"exactly {low}"
    return f"{low} to {high}" if high is not None else f"{low} or more"


def _machine(machine: MachinePlan) -> Iterator[str]:
    spec = machine.spec
    runs = f"once for each `{machine.element}`" if machine.element else "once a reading"
    yield f"### `{machine.name}`\n\nRuns {runs}.\n"
    observed = []
    for name, rule in machine.observed.items():
        values = ", ".join(f"`{spell(value)}`" for value in rule.kind.domain or ())
        observed.append((f"`{name}`", code(spec.observe[name]), values))
    yield table(["observation", "of", "values"], observed)
    rows = []
    for name, row in spec.rows.items():
        for when in row.alternatives:
            state = f"`{name}`"
            columns = [_format_value((row.give or {}).get(column)) for column in machine.columns]
            if row.violation is not None:
                state = f"refused: {row.violation}" + (f", {row.say}" if row.say else "")
                columns = [""] * len(machine.columns)
            cells = [_format_allowed(when, observation) for observation in machine.observed]
            rows.append([*cells, state, *columns])
    yield table([*machine.observed, "state", *machine.columns], rows)
    initial = ", ".join(f"`{state}`" for state in spec.initial)
    steps = "; ".join(
        f"`{state}` → {', '.join(f'`{name}`' for name in nexts)}"
        for state, nexts in spec.transitions.items()
    )
    yield f"Begins in {initial}. Steps: {steps or 'none'}.\n"
    if spec.epoch is not None:
        yield f"Starts anew when {code(spec.epoch)} changes.\n"
    if spec.gone == FORGET:
        yield "An instance that disappears is forgotten.\n"
    elif spec.gone is not None:
        yield f"An instance that disappears has become `{spec.gone}`.\n"


def _format_allowed(when: Mapping[str, Any], name: str) -> str:
    if name not in when:
        return "any"
    listed = when[name] if isinstance(when[name], list) else [when[name]]
    return " or ".join(map(_format_value, listed))


def _format_value(value: object) -> str:
    return "null" if value is None else spell(value)


def _edge_cases(contract: Contract) -> Iterator[str]:
    yield "## 5 Edge cases\n"
    if not contract.file.edge_cases:
        yield "None beside those of the elements and states.\n"
        return
    rows = []
    for name, edge in contract.file.edge_cases.items():
        each = f"each `{edge.each}`: " if edge.each else ""
        rows.append((f"`{name}`", f"{each}{code(edge.when)}", edge.violation, edge.say or ""))
    yield table(["case", "when", "violation", "says"], rows)


def _events(contract: Contract) -> Iterator[str]:
    if not contract.file.events:
        return
    yield "### Events\n"
    rows = []
    for name, events in contract.file.events.items():
        sides = (", ".join(map(code, names)) for names in (events.side.long, events.side.short))
        named = " ".join(map(code, events.name))
        rows.append((code(name), code(events.time), code(events.known), named, *sides))
    yield table(["list", "drawn at", "known at", "named by", "long", "short"], rows)


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    if not examples:
        return
    yield "## Examples\n"
    rows = []
    for example in examples:
        if example.conforming:
            read = code(json.dumps(example.expect["state"]))
        else:
            read = ", ".join(f"{v['kind']} at `{v['path']}`" for v in example.expect["violations"])
        rows.append((f"`{example.name}`", example.about, read))
    yield table(["example", "about", "read as"], rows)
