"""Small changes of a script: what a slip of the hand would make of it.

    make mutants ARGS=wavetrend

tells how many of them the battery notices in the script of a builtin, and which it does not;
without ARGS in the script of every one.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

OPERATORS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|",
    ast.Mod: "%",
}  # fmt: skip
TWINS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "&": ("|",), "|": ("&",), "%": ("//",),
}  # fmt: skip
COUSINS = {
    "ema": ("sma", "rma"), "sma": ("ema", "wma"), "highest": ("lowest",), "lowest": ("highest",),
    "crossover": ("crossunder", "cross"), "crossunder": ("crossover", "cross"),
    "open": ("close",), "high": ("low", "close"), "low": ("high", "close"),
    "close": ("open", "hlc3"), "hlc3": ("close", "hl2"),
}  # fmt: skip
HAIR = 1e-6


@dataclass(frozen=True)
class Mutant:
    """A script with one change."""

    line: int
    was: str
    now: str
    source: str

    @property
    def change(self) -> str:
        return f"{self.was} → {self.now or '(nothing)'}"

    @property
    def is_sharp(self) -> bool:
        """Whether only a tie, or a value next to a threshold, can tell."""
        try:
            return 0 < abs(float(self.now) - float(self.was)) < 1e-2
        except ValueError:
            return {self.was, self.now} in ({"<", "<="}, {">", ">="})


def mutants(source: str) -> list[Mutant]:
    """Every small change of a script but of what is only read: comments and docstrings."""
    found = {
        source[:start] + now + source[end:]: (start, source[start:end], now)
        for start, end, now in _Slips(source).all()
    }
    found.pop(source, None)
    return [
        Mutant(source.count("\n", 0, start) + 1, *map(_on_one_line, (was, now)), changed)
        for changed, (start, was, now) in sorted(found.items(), key=lambda each: each[1])
    ]


def _on_one_line(code: str) -> str:
    return " ".join(code.split())


Slip = tuple[int, int, str]  # from here to there stands this instead


class _Slips:
    """Where a source can change, and what can stand there instead."""

    def __init__(self, source: str) -> None:
        assert source.isascii()  # columns of the tree count bytes
        self.source = source
        self.tree = ast.parse(source)
        lines = source.splitlines(keepends=True)
        self.starts = [sum(map(len, lines[:i])) for i in range(len(lines))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def text(self, node: ast.AST) -> str:
        return self.source[slice(*self.span(node))]

    def all(self) -> Iterator[Slip]:
        constants = [name for each in self.tree.body for name in _bound(each)]
        for statement in self.tree.body:
            inside = _bound(statement) if isinstance(statement, ast.FunctionDef) else []
            for node in ast.walk(statement):
                for kind, slips in self.KINDS.items():
                    if isinstance(node, kind):
                        yield from slips(self, node)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    names = constants if node.id.isupper() else inside
                    yield from self.names(node, names)

    def names(self, node: ast.Name, known: list[str]) -> Iterator[Slip]:
        if node.id in known:
            at = known.index(node.id)
            for other in (known[at - 1], known[(at + 1) % len(known)]):
                yield *self.span(node), other

    def operators(self, node: ast.Compare | ast.BinOp) -> Iterator[Slip]:
        if isinstance(node, ast.Compare):
            [op], [right] = node.ops, node.comparators
        else:
            op, right = node.op, node.right
        sign = OPERATORS[type(op)]
        at = self.source.index(sign, self.span(node.left)[1], self.span(right)[0])
        for twin in TWINS[sign]:
            yield at, at + len(sign), twin
        if sign == "&":
            yield from self.operands(node, node.left, right)

    def operands(self, node: ast.AST, *kept: ast.AST) -> Iterator[Slip]:
        for each in kept:
            yield *self.span(node), f"({self.text(each)})"

    def constants(self, node: ast.Constant) -> Iterator[Slip]:
        if self.text(node).startswith('"""'):
            return
        for other in _others(node.value):
            yield *self.span(node), other

    def conditions(self, node: ast.If) -> Iterator[Slip]:
        for always in ("True", "False"):
            yield *self.span(node.test), always

    def attributes(self, node: ast.Attribute) -> Iterator[Slip]:
        end = self.span(node)[1]
        for other in COUSINS.get(node.attr, ()):
            yield end - len(node.attr), end, other

    def arguments(self, node: ast.Call) -> Iterator[Slip]:
        ordered = self.text(node.func) not in ("max", "min")
        for first, second in zip(node.args, node.args[1:], strict=False) if ordered else ():
            begin, end = self.span(first)[0], self.span(second)[1]
            yield begin, end, f"{self.text(second)}, {self.text(first)}"
        for keyword in node.keywords:
            begin, end = self.span(keyword)
            yield self.source.rindex(",", 0, begin), end, ""

    def statements(self, node: ast.FunctionDef | ast.If) -> Iterator[Slip]:
        calls = [isinstance(each, ast.Expr) and '"""' not in self.text(each) for each in node.body]
        for i, one in enumerate(node.body):
            if not calls[i]:
                continue
            yield *self.span(one), "pass"
            if calls[i + 1 : i + 2] == [True]:
                other = node.body[i + 1]
                between = self.source[self.span(one)[1] : self.span(other)[0]]
                swapped = self.text(other) + between + self.text(one)
                yield self.span(one)[0], self.span(other)[1], swapped

    KINDS: ClassVar[Mapping[Any, Callable[..., Iterator[Slip]]]] = {
        ast.Compare | ast.BinOp: operators,
        ast.BoolOp: lambda self, node: self.operands(node, *node.values),
        ast.UnaryOp: lambda self, node: self.operands(node, node.operand),
        ast.IfExp: lambda self, node: self.operands(node, node.body, node.orelse),
        ast.Constant: constants,
        ast.If: conditions,
        ast.Attribute: attributes,
        ast.Call: arguments,
        ast.FunctionDef | ast.If: statements,
    }


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement gives to values."""
    names = [
        each.arg if isinstance(each, ast.arg) else each.id
        for each in ast.walk(statement)
        if isinstance(each, ast.arg)
        or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    ]
    return list(dict.fromkeys(names))


def _others(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int):
        return [str(value + 1), f"({value - 1})", repr(value * (1 + HAIR) or HAIR)]
    if isinstance(value, float):
        return [repr(value + 1), repr(value * (1 + HAIR) or HAIR)]
    if isinstance(value, str) and value.startswith("#"):
        return [f'"{value[:-1]}{"0" if value[-1] != "0" else "1"}"']
    if isinstance(value, str):
        return [f'"{value}_"']
    return []


def main() -> None:
    from tests.script.watch import Watch, why_equivalent

    from chartpact.script import stock

    for name in sys.argv[1:] or stock.NAMES:
        watch, changes = Watch(name), mutants(stock.source(name))
        left = [(each, why_equivalent(name, each.change)) for each in watch.unnoticed(changes)]
        equivalent = sum(why is not None for _, why in left)
        summary = f"{equivalent} that change nothing, {len(left) - equivalent} unnoticed"
        print(f"{name}: {len(changes)} changes, {summary}")
        for each, why in left:
            print(f"  line {each.line}: {each.change}: {why or 'UNNOTICED'}")


if __name__ == "__main__":
    main()
