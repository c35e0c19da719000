"""Calls of `math` that compiled code makes itself: between these bounds they give finite numbers.

Beyond them, and of what is no number, the host's function is called, which answers or refuses.
"""

import ast
from collections.abc import Mapping

from chartpact.script.check.checked import Checked
from chartpact.script.compile.hoisting import literal_index
from chartpact.script.compile.kinds import INT
from chartpact.script.compile.nodes import is_plain_call
from chartpact.script.compile.type_guards import TypeGuards

Bounds = tuple[float, float]

BOUNDS: Mapping[str, tuple[Bounds, ...]] = {  # of each argument
    "math.exp": ((-700.0, 700.0),),
    "math.log": ((1e-300, 1e300),),
    "math.pow": ((1e-30, 1e30), (-10.0, 10.0)),
    "math.sqrt": ((0.0, 1e300),),
}
_MOST = 2**30 - 1  # of ints that Python compares at once


def quick_math(node: ast.expr, checked: Checked, guards: TypeGuards) -> str | None:
    """The function of `math` that a call of numbers may be a quick call of."""
    if not isinstance(node, ast.Call) or not is_plain_call(node):
        return None
    name = checked.namespaced(node.func)
    if name is None or name not in BOUNDS or len(BOUNDS[name]) != len(node.args):
        return None
    return (
        name if all(guards.kind(value) and guards.is_number(value) for value in node.args) else None
    )


def within_bounds(
    bounds: Bounds, node: ast.expr, value: ast.expr, guards: TypeGuards
) -> ast.expr | None:
    """A test whether a number is within the bounds, None if it is a literal that is."""
    least, most = bounds
    literal = literal_index(node)
    if literal is not None and least <= literal <= most:
        return None
    limits: list[float] = [least, most]
    if not guards.kind(node) & ~INT:  # compared as ints
        limits = [int(least) + (least > int(least)), int(min(most, _MOST))]
    low, high = (ast.Constant(limit) for limit in limits)
    return ast.Compare(low, [ast.LtE(), ast.LtE()], [value, high])
