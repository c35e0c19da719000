"""Calls of the functions that the language has."""

import ast

from chartpact.contracts import patterns
from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions.check import Check, quoted
from chartpact.contracts.expressions.comparisons import color
from chartpact.contracts.expressions.encodings import encode
from chartpact.contracts.expressions.facts import Facts
from chartpact.contracts.expressions.lists import OF_LISTS, over_list
from chartpact.contracts.expressions.parse import MAX_NODES
from chartpact.contracts.kinds import BOOL, NUMBER
from chartpact.contracts.scope import Value

FUNCTIONS = (
    *"abs min max mean near round_to_tick alpha starts_with matches".split(),
    *OF_LISTS,
)
_ARGUMENTS = {
    "abs": (1, 1),
    "round_to_tick": (1, 1),
    "alpha": (1, 1),
    "min": (2, MAX_NODES),
    "max": (2, MAX_NODES),
    "mean": (2, MAX_NODES),
}


def call(check: Check, node: ast.Call, facts: Facts) -> Value:
    if not isinstance(node.func, ast.Name):
        raise check.fail(node, "only functions of the language are called", kind="forbidden")
    name = node.func.id
    if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        raise check.fail(node, f"{name} takes plain arguments", kind="forbidden")
    if name in check.vocabulary.encodings:
        return encode(check, node, name, facts)
    if name in OF_LISTS:
        return over_list(check, node, name, facts)
    if name not in FUNCTIONS:
        functions = [*FUNCTIONS, *check.vocabulary.encodings]
        raise check.fail(
            node, f"there is no function {name!r}", suggestion(name, functions), "name"
        )
    at_least, at_most = _ARGUMENTS.get(name, (2, 2))
    if not at_least <= len(node.args) <= at_most:
        wanted = f"{at_least}" if at_least == at_most else f"at least {at_least}"
        raise check.fail(node, f"{name} takes {wanted} values, not {len(node.args)}")
    if name == "alpha":
        return _alpha(check, node, facts)
    if name in ("starts_with", "matches"):
        return _text_test(check, node, name, facts)
    return _numeric(check, node, name, facts)


def _numeric(check: Check, node: ast.Call, name: str, facts: Facts) -> Value:
    codes = []
    for argument in node.args:
        value = check.value(argument, facts)
        if value.kind.name not in ("number", "unknown"):
            raise check.fail(argument, f"{name} takes numbers; {quoted(argument)} is {value.kind}")
        codes.append(check.there(argument, value))
    if name in ("near", "round_to_tick"):
        tick = check.vocabulary.config.get("tick_size", NUMBER)
        if tick.name != "number" or tick.nullable:
            raise check.fail(
                node,
                f"{name} needs tick_size, which may be none or is no number here",
                "declare it: tick_size: {type: number, from: chart.tick_size}",
            )
        check.config.add("tick_size")
    match name:
        case "near":
            return Value(BOOL, f"(abs({codes[0]} - {codes[1]}) <= HALF_TICK)")
        case "round_to_tick":
            return Value(NUMBER, f"to_tick({codes[0]})")
        case "mean":
            return Value(NUMBER, check.finite(f"(({' + '.join(codes)}) / {len(codes)})"))
    return Value(NUMBER, f"{name}({', '.join(codes)})")


def _alpha(check: Check, node: ast.Call, facts: Facts) -> Value:
    argument = node.args[0]
    value = check.value(argument, facts)
    told = quoted(argument)
    if not value.kind.known:
        return Value(NUMBER, "0")
    if value.kind.name == "enum":
        value = color(check, argument, value)
    if value.kind.name != "color":
        raise check.fail(argument, f"alpha takes a colour, {told} is {value.kind}")
    if value.kind.absent:
        raise check.fail(argument, f"{told} may be none here", "ask first whether it is there")
    if value.shared:
        raise check.fail(
            argument,
            f"{told} is the colour of a group, whose members may differ in opacity",
            "ask for the opacity of one part",
        )
    if value.alpha is None:
        raise check.fail(argument, f"{told} has no opacity of its own", "name a drawn colour")
    return Value(NUMBER, value.alpha.code)


def _text_test(check: Check, node: ast.Call, name: str, facts: Facts) -> Value:
    subject, pattern = node.args
    text = check.value(subject, facts)
    if text.kind.name not in ("text", "enum", "unknown"):
        raise check.fail(subject, f"{quoted(subject)} is {text.kind}, not a text")
    code = check.there(subject, text)
    if name == "starts_with":
        start = check.value(pattern, facts)
        if start.kind.name not in ("text", "enum", "unknown"):
            raise check.fail(pattern, f"{quoted(pattern)} is {start.kind}, not a text")
        return Value(BOOL, f"{code}.startswith({check.there(pattern, start)})")
    if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
        if (wrong := patterns.fault(pattern.value)) is not None:
            raise check.fail(pattern, wrong, "patterns are those of RE2")
        check.patterns.add(pattern.value)
        return Value(BOOL, f"matching[{pattern.value!a}]({code})")
    found = check.value(pattern, facts)
    if found.kind.name != "pattern":
        raise check.fail(
            pattern, f"{quoted(pattern)} is {found.kind}, not a pattern",
            "write a text, or a config key of type pattern",
        )  # fmt: skip
    return Value(BOOL, f"{check.there(pattern, found)}.matches({code})")
