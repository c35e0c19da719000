"""Python code: the one place where typed nodes become text.

The code consists of index lookups on rows, numbered variables, and literals written anew; nothing
of the author's text reaches it otherwise. Functions take what they work on and `S`, the list of
everything the reading has found so far. A line that raises is found again by its number, so that
finding the place in the contract costs nothing while all goes well.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CodeType

from chartpact.contracts.expressions import nodes
from chartpact.contracts.expressions.nodes import Call, Node, side
from chartpact.contracts.expressions.values import (
    Column,
    Constant,
    Item,
    Local,
    Location,
    Needs,
    Slot,
)

FILENAME = "<contract>"

Key = tuple[str | int, ...]  # what a function is for: ("where", element), ("edge", case), …


@dataclass(frozen=True)
class Program:
    """The generated functions of one contract, and what they expect."""

    code: CodeType
    functions: Mapping[Key, str]  # their names
    paths: Mapping[int, str]  # line → place in the contract
    columns: Mapping[str, Mapping[Column, Needs]]  # channel → what its rows hold, and what it takes
    slots: Mapping[Slot, int]  # places in S
    constants: Mapping[Constant, str]  # their variables


class Module:
    """The functions of one contract while they are written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._functions: dict[Key, str] = {}
        self._paths: dict[int, str] = {}
        self._columns: dict[str, list[Column]] = {}
        self._slots: dict[Slot, int] = {}
        self._constants: dict[Constant, str] = {}

    def slot(self, slot: Slot) -> int:
        return self._slots.setdefault(slot, len(self._slots))

    def constant(self, constant: Constant) -> str:
        return self._constants.setdefault(constant, f"k{len(self._constants)}")

    def column(self, column: Column) -> int:
        order = self._columns.setdefault(column.channel, [])
        if column not in order:
            order.append(column)
        return order.index(column) + 1  # place 0 is the row's number

    def add(self, key: Key, function: "Function") -> None:
        name = self._functions.setdefault(key, f"f{len(self._functions)}")
        self._lines.append(f"def {name}({function.arguments}):")
        self._lines += [f"    {variable(slot)} = S[{slot}]" for slot in sorted(function.slots)]
        for line, path in function.lines:
            self._lines.append(line)
            if path:
                self._paths[len(self._lines)] = path

    def program(self) -> Program:
        return Program(
            compile("\n".join(self._lines) + "\n", FILENAME, "exec"),
            self._functions,
            self._paths,
            {
                channel: {column: column.needs for column in order}
                for channel, order in self._columns.items()
            },
            self._slots,
            self._constants,
        )


def variable(slot: int) -> str:
    return f"s{slot}"


class Function:
    """One function while it is written."""

    def __init__(self, module: Module, arguments: str) -> None:
        self.module, self.arguments = module, arguments
        self.slots: set[int] = set()
        self.variables: dict[Location, str] = {}  # where something is held besides its place
        self.lines: list[tuple[str, str]] = []
        self._temporaries = 0

    def line(self, code: str, path: str = "", indent: int = 1) -> None:
        """Adds a line of code that carries out what stands at a path of the contract."""
        assert "\n" not in code, code
        self.lines.append(("    " * indent + code, path))

    def locate(self, at: Location) -> str:
        """The code that fetches a value from where it is held."""
        if at in self.variables:
            return self.variables[at]
        match at:
            case Local():
                return at.name
            case Constant():
                return self.module.constant(at)
            case Slot():
                slot = self.module.slot(at)
                self.slots.add(slot)
                return variable(slot)
            case Item():
                step = self.module.column(at.step) if isinstance(at.step, Column) else at.step
                return f"{self.locate(at.of)}[{step}]"

    def code(self, node: Node) -> str:
        """The code of an expression."""
        match node:
            case nodes.Literal() if node.kind.name == "pattern":
                return self.locate(Constant("pattern", str(node.value)))
            case nodes.Literal():
                return ascii(node.value)
            case nodes.Mention():
                value = self.locate(node.value.at)
                if node.anchor is not None:
                    lost = f"lost({self.locate(node.anchor)})"
                    value = f"({value} if {value} is not None else {lost})"
                return self._guarded(node.guards, value)
            case nodes.Stored():
                return self._guarded(node.guards, self.locate(node.at))
            case nodes.Choice():
                test, yes, no = map(self.code, (node.test, node.yes, node.no))
                return f"({yes} if {test} else {no})"
            case Call():
                return self._call(node)
            case nodes.Encoded():
                table = self.locate(Constant("encoding", node.table, node.of.kind.name))
                return f"{table}[{self.code(node.of)}]"
            case nodes.OfList():
                return f"{node.function}({self.code(node.listing)})"
            case nodes.Listing():
                test = f" if {self.code(node.test)}" if node.test is not None else ""
                listed = self.locate(Slot("list", node.over))
                return f"[{self.code(node.item)} for x in {listed}{test}]"
        return self._arithmetic(node)

    def _arithmetic(self, node: Node) -> str:
        match node:
            case nodes.Arithmetic():
                # A product is one of floats, so that whole numbers do not grow without end.
                start = "1.0 * " if node.sign == "*" else ""
                return f"({start}{self.code(node.left)} {node.sign} {self.code(node.right)})"
            case nodes.Negative():
                return f"(-{self.code(node.of)})"
            case nodes.Finite():
                return self._finite(self.code(node.of))
            case nodes.Known():
                name = self._temporary()
                asked = f"({name} := {self.code(node.of)})"
                return f"({name} if {asked} is not None else unknown({node.shown!a}))"
        return self._condition(node)

    def _condition(self, node: Node) -> str:
        match node:
            case nodes.Compare():
                anchors = node.sign == "==" and node.left.kind.name == "anchor"
                known = " != NOWHERE" if anchors else ""
                return f"({self.code(node.left)} {node.sign} {self.code(node.right)}{known})"
            case nodes.Among():
                of, items = self.code(node.of), self.tuple(node.items)
                known = f"{of} != NOWHERE and " if node.of.kind.name == "anchor" else ""
                return f"({known}{of} in {items})"
            case nodes.IsNone():
                return f"({self.code(node.of)} is None)"
            case nodes.Not(of=nodes.IsNone(of=of)):
                return f"({self.code(of)} is not None)"
            case nodes.Not():
                return f"(not {self.code(node.of)})"
            case nodes.Joined():
                return f"({(' and ' if node.all else ' or ').join(map(self.code, node.parts))})"
        raise TypeError(f"{type(node).__name__} has no code")

    def _call(self, node: Call) -> str:
        if node.function == "alpha":
            opacity = side(node.arguments[0], "alpha")
            assert opacity is not None
            return self.code(opacity)
        arguments = [self.code(argument) for argument in node.arguments]
        match node.function:
            case "near":
                half = self.locate(Constant("half_tick"))
                return f"(abs({arguments[0]} - {arguments[1]}) <= {half})"
            case "round_to_tick":
                return f"{self.locate(Constant('to_tick'))}({arguments[0]})"
            case "mean":
                return self._finite(f"(({' + '.join(arguments)}) / {len(arguments)})")
            case "matches":
                return f"({arguments[1]}.groups_in[{arguments[0]}] is not None)"
            case "starts_with":
                return f"{arguments[0]}.startswith({arguments[1]})"
        return f"{node.function}({', '.join(arguments)})"

    def _guarded(self, guards: Iterable[Location], code: str) -> str:
        absent = " or ".join(f"{self.locate(guard)} is None" for guard in guards)
        return f"(None if {absent} else {code})" if absent else code

    def _finite(self, code: str) -> str:
        name = self._temporary()
        return f"({name} if -1e999 < ({name} := {code}) < 1e999 else endless())"

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def tuple(self, parts: Iterable[Node]) -> str:
        return f"({''.join(f'{self.code(part)}, ' for part in parts)})"
