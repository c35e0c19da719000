"""Lists of an element's instances, and the functions that take one."""

import ast
from dataclasses import replace

from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions.check import Check
from chartpact.contracts.expressions.facts import NO_FACTS, Facts
from chartpact.contracts.kinds import BOOL, NUMBER, UNKNOWN, Kind
from chartpact.contracts.model import RESERVED
from chartpact.contracts.scope import Value

OF_LISTS = ("len", "any", "all", "only")


def over_list(check: Check, node: ast.Call, name: str, facts: Facts) -> Value:
    if len(node.args) != 1:
        raise check.fail(node, f"{name} takes one list")
    argument = node.args[0]
    if not isinstance(argument, ast.ListComp):
        raise check.fail(argument, f"{name} takes a list", f"write {name}([e for v in element])")
    listed = check.value(argument, facts)
    item = listed.kind.of
    assert item is not None
    if not item.known:
        return Value(UNKNOWN, "None")
    if name == "len":
        return Value(NUMBER, f"len({listed.code})")
    if name in ("any", "all"):
        if item.name != "bool" or item.nullable:
            raise check.fail(argument, f"{name} takes a list of conditions, each here is {item}")
        return Value(BOOL, f"{name}({listed.code})")
    if item.name not in ("number", "text", "bool", "enum", "color", "time"):
        raise check.fail(argument, f"only takes values that can be compared, each here is {item}")
    return Value(replace(item, nullable=True), f"only({listed.code})")


def listed(check: Check, node: ast.ListComp, facts: Facts) -> Value:
    if check.in_list:
        raise check.fail(node, "a list stands in a list", "a list has one `for`", "forbidden")
    if not check.scope.sets:
        raise check.fail(
            node, "a list has no place here: this runs once for each object",
            "list in output, in edge_cases without each, or in a machine of the reading",
            "forbidden",
        )  # fmt: skip
    run = node.generators[0]
    if len(node.generators) > 1 or len(run.ifs) > 1 or run.is_async:
        raise check.fail(node, "a list has one `for` and one `if`", "join with and", "forbidden")
    if not isinstance(run.iter, ast.Name) or run.iter.id not in check.scope.sets:
        hint = suggestion(ast.unparse(run.iter), list(check.scope.sets))
        raise check.fail(run.iter, "a list runs over an element", hint, "name")
    if not isinstance(run.target, ast.Name):
        raise check.fail(run.target, "a list has one variable", "write [e for v in element]")
    over, variable = run.iter.id, run.target.id
    if check.scope.get(variable) is not None or variable in {
        *check.scope.sets,
        *check.vocabulary.encodings,
        *RESERVED,
    }:
        raise check.fail(run.target, f"{variable!r} has a meaning already", "choose another")
    items = check.scope.sets[over]
    check.free.add(items.code)
    check.elements.add(over)
    kind = items.kind.of
    assert kind is not None
    outer, check.in_list = check.scope, True
    each = Value(kind, f"x_{variable}", element=over)
    check.scope = outer.with_names({variable: each})
    test, known, _ = ("", NO_FACTS, NO_FACTS)
    if run.ifs:
        test, known, _ = check.condition(run.ifs[0], facts)
    value = check.value(node.elt, facts | known)
    check.scope, check.in_list = outer, False
    condition = f" if {test}" if test else ""
    code = f"[{value.code} for x_{variable} in {items.code}{condition}]"
    return Value(Kind("list", of=value.kind), code)
