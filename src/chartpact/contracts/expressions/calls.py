"""Calls: the functions of the language, lists of instances, and a contract's encodings."""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chartpact import palette
from chartpact.contracts.codecs import pattern_fault
from chartpact.contracts.expressions import nodes
from chartpact.contracts.expressions.nodes import (
    OF_TICKS,
    TICK_SIZE,
    Call,
    Listing,
    Literal,
    Node,
    OfList,
    established,
)
from chartpact.contracts.expressions.parse import MAX_NODES, Check, fault, quoted
from chartpact.contracts.expressions.values import (
    BOOL,
    COLOR,
    NO_FACTS,
    NUMBER,
    PATTERN,
    UNKNOWN,
    Facts,
    Kind,
    Local,
    Look,
    Value,
    enum,
)
from chartpact.contracts.model import RESERVED
from chartpact.contracts.problems import suggestion

EACH = Local("x")  # the instance that a list has come to


def call(check: Check, tree: ast.Call, facts: Facts) -> Node:
    if not isinstance(tree.func, ast.Name):
        raise fault("only functions of the language are called", kind="forbidden")
    name, tables = tree.func.id, check.vocabulary.tables
    if tree.keywords or any(isinstance(argument, ast.Starred) for argument in tree.args):
        raise fault(f"{name} takes plain arguments", kind="forbidden")
    if name in tables:
        return _encode(check, tree, name, facts)
    if name in OF_LISTS:
        return _of_list(check, tree, name, facts)
    if name not in _FUNCTIONS:
        hint = suggestion(name, [*FUNCTIONS, *tables])
        raise fault(f"there is no function {name!r}", hint, "name")
    at_least, at_most, checked = _FUNCTIONS[name]
    if not at_least <= len(tree.args) <= at_most:
        wanted = f"{at_least}" if at_least == at_most else f"at least {at_least}"
        raise fault(f"{name} takes {wanted} values, not {len(tree.args)}")
    return checked(check, tree, name, facts)


def _numeric(check: Check, tree: ast.Call, name: str, facts: Facts) -> Node:
    arguments = []
    for argument in tree.args:
        node = check.value(argument, facts)
        if node.kind.name not in ("number", "unknown"):
            raise fault(f"{name} takes numbers; {quoted(argument)} is {node.kind}")
        arguments.append(check.there(argument, node))
    if name in OF_TICKS:
        tick = check.vocabulary.config.get(TICK_SIZE, NUMBER)
        if tick.name != "number" or tick.nullable:
            hint = "declare it: tick_size: {type: number, from: chart.tick_size}"
            raise fault(f"{name} needs tick_size, which may be none or is no number here", hint)
    return Call(BOOL if name == "near" else NUMBER, name, tuple(arguments))


def _alpha(check: Check, tree: ast.Call, name: str, facts: Facts) -> Node:
    argument = tree.args[0]
    node, shown = check.value(argument, facts), quoted(argument)
    if not node.kind.known:
        return node
    if node.kind.name == "enum":
        node = color(node)
    if node.kind.name != "color":
        raise fault(f"alpha takes a colour, {shown} is {node.kind}")
    if node.kind.absent:
        raise fault(f"{shown} may be none here", "ask first whether it is there")
    if nodes.shared(node):
        hint = "ask for the opacity of one part"
        raise fault(f"{shown} is the colour of a group, whose members may differ in opacity", hint)
    if nodes.side(node, "alpha") is None:
        raise fault(f"{shown} has no opacity of its own", "name a drawn colour")
    return Call(NUMBER, name, (node,))


def color(literal: Node) -> Node:
    """The colour that a text stands for."""
    for name in literal.kind.names:
        if not palette.is_hex(name):
            raise fault(f"{name!r} is not a colour", "write '#rrggbb'")
    if not isinstance(literal, Literal):
        raise fault("a colour is written as such", "write '#rrggbb' where compared")
    full = palette.color(str(literal.value))
    return Literal(COLOR, full[:7], int(full[7:], 16))


def _text(check: Check, tree: ast.expr, facts: Facts) -> Node:
    node = check.value(tree, facts)
    if node.kind.name not in ("text", "enum", "unknown"):
        raise fault(f"{quoted(tree)} is {node.kind}, not a text")
    return check.there(tree, node)


def _starts_with(check: Check, tree: ast.Call, name: str, facts: Facts) -> Node:
    return Call(BOOL, name, tuple(_text(check, argument, facts) for argument in tree.args))


def _matches(check: Check, tree: ast.Call, name: str, facts: Facts) -> Node:
    subject, written = tree.args
    text, pattern = _text(check, subject, facts), check.value(written, facts)
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        if (wrong := pattern_fault(pattern.value)) is not None:
            raise fault(wrong, "patterns are those of RE2")
        return Call(BOOL, name, (text, Literal(PATTERN, pattern.value)))
    if pattern.kind.name != "pattern":
        hint = "write a text, or a config key of type pattern"
        raise fault(f"{quoted(written)} is {pattern.kind}, not a pattern", hint)
    return Call(BOOL, name, (text, check.there(written, pattern)))


Checked = Callable[[Check, ast.Call, str, Facts], Node]
_FUNCTIONS: dict[str, tuple[int, int, Checked]] = {
    "abs": (1, 1, _numeric),
    "min": (2, MAX_NODES, _numeric),
    "max": (2, MAX_NODES, _numeric),
    "mean": (2, MAX_NODES, _numeric),
    "near": (2, 2, _numeric),
    "round_to_tick": (1, 1, _numeric),
    "alpha": (1, 1, _alpha),
    "starts_with": (2, 2, _starts_with),
    "matches": (2, 2, _matches),
}
OF_LISTS = ("len", "any", "all", "only")
FUNCTIONS = (*_FUNCTIONS, *OF_LISTS)


# ------------------------------------------------------------------------------------------- lists


def _of_list(check: Check, tree: ast.Call, name: str, facts: Facts) -> Node:
    if len(tree.args) != 1:
        raise fault(f"{name} takes one list")
    if not isinstance(tree.args[0], ast.ListComp):
        raise fault(f"{name} takes a list", f"write {name}([e for v in element])")
    listing = listed(check, tree.args[0], facts)
    item = listing.item.kind
    if not item.known:
        return OfList(UNKNOWN, name, listing)
    if name == "len":
        return OfList(NUMBER, name, listing)
    if name in ("any", "all"):
        if item.name != "bool" or item.nullable:
            raise fault(f"{name} takes a list of conditions, each here is {item}")
        return OfList(BOOL, name, listing)
    if item.name not in ("number", "text", "bool", "enum", "color", "time"):
        raise fault(f"only takes values that can be compared, each here is {item}")
    return OfList(replace(item, nullable=True), name, listing)


def listed(check: Check, tree: ast.ListComp, facts: Facts) -> Listing:
    scope = check.scope
    if EACH in (value.at for value in scope.names.values()):
        raise fault("a list stands in a list", "a list has one `for`", "forbidden")
    if not scope.lists:
        hint = "list in output, in edge_cases without each, or in a machine of the reading"
        raise fault("a list has no place here: this runs once for each object", hint, "forbidden")
    run = tree.generators[0]
    if len(tree.generators) > 1 or len(run.ifs) > 1 or run.is_async:
        raise fault("a list has one `for` and one `if`", "join with and", "forbidden")
    if not isinstance(run.iter, ast.Name) or run.iter.id not in scope.lists:
        hint = suggestion(ast.unparse(run.iter), sorted(scope.lists))
        raise fault("a list runs over an element", hint, "name")
    if not isinstance(run.target, ast.Name):
        raise fault("a list has one variable", "write [e for v in element]")
    over, variable = run.iter.id, run.target.id
    taken = {*scope.lists, *check.vocabulary.tables, *RESERVED}
    if scope.get(variable) is not None or variable in taken:
        raise fault(f"{variable!r} has a meaning already", "choose another")
    each = Value(Kind("element", shape=over), EACH, element=over)
    check.scope = scope.with_names({variable: each})
    test = check.condition(run.ifs[0], facts) if run.ifs else None
    known = established(test)[0] if test is not None else NO_FACTS
    item = check.value(tree.elt, facts | known)
    check.scope = scope
    return Listing(Kind("list", of=item.kind), over, item, test)


# --------------------------------------------------------------------------------------- encodings


def _encode(check: Check, tree: ast.Call, name: str, facts: Facts) -> Node:
    if not check.scope.encodings:
        hint = "name its result in reads, and use that name here"
        raise fault(f"the encoding {name!r} is called in reads only", hint, "forbidden")
    if len(tree.args) != 1:
        raise fault(f"{name} takes one value, not {len(tree.args)}")
    node = check.value(tree.args[0], facts)
    kind = node.kind
    if not kind.known:
        return node
    if kind.nullable and (kind.absent or kind.name != "color"):
        node = check.there(tree.args[0], node)
    if kind.name not in ("color", "text", "enum", "bool", "number"):
        raise fault(f"an encoding does not read {kind}", "give it a drawn field")
    for meaning, looks in check.vocabulary.tables[name].items():
        for look in looks:
            if (wrong := _misfit(look, kind, check.vocabulary.config)) is not None:
                hint = f"{name} is called on {quoted(tree.args[0])}, {kind}"
                raise fault(f"encodings.{name}.{meaning}: {wrong}", hint)
    return nodes.Encoded(enum(check.vocabulary.tables[name]), name, node)


def _misfit(look: Look, kind: Kind, config: Any) -> str | None:
    """Why nothing of a kind can look so, or nothing."""
    value = look.value
    if look.key is not None:
        key: Kind = config[look.key]
        if key.name == kind.name == "enum":
            extra = [name for name in key.names if name not in kind.names]
            return f"{look.key} may be {extra[0]!r}, which never occurs" if extra else None
        fits = key.name == kind.name or (key.name == "enum" and kind.name == "text")
        return None if fits else f"the config key {look.key} is {key}"
    if value is None:
        fits = kind.name == "color" and kind.nullable
        return None if fits else "none never occurs"
    if kind.name == "bool":
        return None if isinstance(value, bool) else f"{value!r} is not true or false"
    if kind.name == "number":
        good = isinstance(value, int | float) and not isinstance(value, bool)
        return None if good else f"{value!r} is not a number"
    if not isinstance(value, str):
        return f"{value!r} is not a text"
    if kind.name == "color":
        return None if palette.is_hex(value) else f"{value!r} is not a colour #rrggbb"
    if kind.name == "enum" and value not in kind.names:
        return f"{value!r} never occurs; {suggestion(value, kind.names)}"
    return None
