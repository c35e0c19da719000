"""Where Python's own operators would do what the language forbids.

An operation needs a type guard, which is a call into `runtime`, if the kinds of its operands leave
room for something that Python takes and Starlark does not (True + 1), that explodes ("x" * n), or
that has to be walked (a == b on lists).
"""

import ast
from collections.abc import Mapping

from chartpact.script.compile import kinds as k
from chartpact.script.compile.hoisting import literal_index

_BITWISE = ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift
_OF_FLOATS = (
    ast.Add
    | ast.Sub
    | ast.Mult
    | ast.Div
    | ast.Lt
    | ast.LtE
    | ast.Gt
    | ast.GtE
    | ast.Eq
    | ast.NotEq
)
_EXACT = 1 << 53  # ints up to here are floats
_PLAIN_KEY = k.SMALL | k.FLOAT | k.STR | k.NONE  # may be a key or an index without a further look


class TypeGuards:
    """Whether an operation of a module needs a guard, by the kinds of its expressions."""

    def __init__(self, kinds: Mapping[ast.AST, int]) -> None:
        self._kinds = kinds

    def kind(self, node: ast.expr) -> int:
        return self._kinds.get(node, 0)

    def binary(self, operator: ast.operator, left: ast.expr, right: ast.expr) -> bool:
        a, b = self.kind(left), self.kind(right)
        if isinstance(operator, ast.BitAnd | ast.BitOr) and not (a | b) & ~k.CONDITIONS:
            return False
        if isinstance(operator, _BITWISE) or (a | b) & k.BOOL:
            return True
        if isinstance(operator, ast.Add):
            return bool(a & b & (k.SEQUENCE | k.BIG))
        if isinstance(operator, ast.Sub):
            return bool(a & b & k.BIG)
        if isinstance(operator, ast.Mult):
            grows = k.SEQUENCE | k.BIG
            return bool((a & grows and b & k.INT) or (b & grows and a & k.INT))
        if isinstance(operator, ast.Mod | ast.FloorDiv):
            slow = (a & k.FLOAT and b & k.NUMBER) or (b & k.FLOAT and a & k.NUMBER)  # if far apart
            if slow or (a & k.BIG and b & (k.MID | k.BIG)):
                return True
        return isinstance(operator, ast.Mod) and bool(a & k.STR)

    def unary(self, operator: ast.unaryop, operand: ast.expr) -> bool:
        if isinstance(operator, ast.Not):
            return False
        safe = k.NUMBER | k.SERIES | k.NONE | k.CONTAINER
        if isinstance(operator, ast.Invert):
            safe = k.CONDITIONS
        return bool(self.kind(operand) & ~safe)

    def compare(self, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        if isinstance(operator, ast.In | ast.NotIn):
            return True
        a, b = self.kind(left), self.kind(right)
        short = any(isinstance(side, ast.Constant) for side in (left, right))
        if a & b & k.STR and not short:
            return True
        if isinstance(operator, ast.Eq | ast.NotEq):
            mixed = (a & k.BOOL and b & k.NUMBER) or (b & k.BOOL and a & k.NUMBER)
            return bool(mixed or a & b & (k.CONTAINER | k.RANGE) or (a & k.DICTS and b & k.DICTS))
        return bool((a | b) & k.BOOL or a & b & (k.LIST | k.TUPLE))

    def element(self, node: ast.Subscript) -> bool:
        index = self.kind(node.slice)
        if not index & ~_PLAIN_KEY:
            return False
        return bool(index & ~k.INT or self.kind(node.value) & k.DICTS)

    def is_number(self, node: ast.expr) -> bool:
        return not self.kind(node) & ~k.NUMBER

    def takes_ints(self, operator: ast.AST, left: ast.expr, right: ast.expr) -> bool:
        """Whether it compares something with what is surely an int, so that ints are as good."""
        kinds = (self.kind(left), self.kind(right))
        return isinstance(operator, ast.cmpop) and any(kind and not kind & ~k.INT for kind in kinds)

    def turns_float(self, node: ast.expr, other: ast.expr) -> bool:
        """Whether it is a literal int beside a float, for which Python takes the same float."""
        literal = literal_index(node)
        return literal is not None and abs(literal) <= _EXACT and self.kind(other) == k.FLOAT

    def may_be_floats(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether a guard is for what may be floats and may be anything else."""
        sides = (left, right)
        floats = all(self.is_number(side) or self.kind(side) & k.FLOAT for side in sides)
        return floats and not all(map(self.is_number, sides))

    def inlines(self, operator: ast.AST, left: ast.expr, right: ast.expr) -> bool:
        """Whether a guarded operator is Python's own where its sides turn out to be floats."""
        return isinstance(operator, _OF_FLOATS) and self.may_be_floats(left, right)

    def key(self, node: ast.expr) -> bool:
        return bool(self.kind(node) & ~_PLAIN_KEY)

    def is_series(self, node: ast.Attribute) -> bool:
        """Whether it is `ohlcv.close`: a series of what is surely an ohlcv."""
        return self.kind(node.value) == k.OHLCV and bool(k.OHLCV_KINDS.get(node.attr, 0) & k.SERIES)
