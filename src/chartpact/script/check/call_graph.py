"""The order of a script's functions: each before those that use it, none that uses itself.

The compiler weighs callees before their callers. Recursion is refused, so the budget of a call is
known before it is made, and calls cannot exhaust Python's stack.
"""

import ast
from collections.abc import Iterator, Mapping

from chartpact.script.check.report import CheckReport
from chartpact.script.limits import CALL_DEPTH

_LONGEST_CIRCLE = 8  # functions that a message names


def order_functions(
    functions: Mapping[str, ast.FunctionDef], uses: Mapping[str, set[str]], report: CheckReport
) -> dict[str, ast.FunctionDef]:
    """The functions with callees first; recursion and deep towers of calls are reported."""
    depths: dict[str, int] = {}
    for name in functions:
        if name not in depths:
            _visit(name, functions, uses, depths, report)
    for name, depth in depths.items():
        if depth > CALL_DEPTH:
            message = f"functions call one another more than {CALL_DEPTH} deep"
            report.refuse(functions[name], "forbidden", message)
            break
    return {name: functions[name] for name in depths if name in functions}


def _visit(
    start: str,
    functions: Mapping[str, ast.FunctionDef],
    uses: Mapping[str, set[str]],
    depths: dict[str, int],
    report: CheckReport,
) -> None:
    """A depth-first walk, without Python's stack: a hostile script may be deeper than that."""
    path = {start: None}  # ordered, and quick to search
    pending: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(uses[start])))]
    while pending:
        name, callees = pending[-1]
        for callee in callees:
            if callee in path:
                circle = list(path)[list(path).index(callee) :]
                if len(circle) >= _LONGEST_CIRCLE:
                    circle = [callee, "…"]
                message = f"a function cannot call itself: {' → '.join([*circle, callee])}"
                report.refuse(functions[name], "forbidden", message, "write a loop instead")
            elif callee not in depths:
                path[callee] = None
                pending.append((callee, iter(sorted(uses[callee]))))
                break
        else:
            pending.pop()
            del path[name]
            depths[name] = 1 + max((depths.get(callee, 0) for callee in uses[name]), default=0)
