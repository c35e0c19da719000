"""What TradingView's compiler refuses and PineTS runs: mistakes that are found in the text alone.

PineTS checks no types. The twins declare the type of everything, so their declarations suffice.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

TYPES = r"(?:int|float|bool|string|color|line|label|box|table|[A-Z]\w*|array<\w+>)"
DECLARED = re.compile(rf"^(?:var )?({TYPES}) (\w+) = ")
FUNCTION = re.compile(r"^(\w+)\((.*)\) =>(.*)$")
ASSIGNED = re.compile(r"^([\w.]+) (?::=|\+=|-=) ")
CALLED = re.compile(r"^([\w.]+)\(.*\)$")
BRANCH = re.compile(r"^(if|else if|else)\b")
VOID = "push insert unshift delete clear cell error"
RETURNED = {"size": "int", "indexof": "int", "new": "object"}
ELEMENTS = ("get", "shift", "pop", "remove", "last", "first")
# Namespaces and words that a variable must not hide.
TAKEN = frozenset(
    "array box chart color display extend format hline input label line location map math matrix "
    "plot position request runtime shape size str string syminfo ta table text ticker timeframe "
    "time volume open high low close xloc yloc barmerge barstate order session year month hour "
    "minute second dayofmonth dayofweek catch class do ellipse in is polygon range return struct "
    "throw try".split()
)


@dataclass
class Statement:
    """A line of code, and the lines that are indented under it."""

    number: int
    text: str
    body: list["Statement"] = field(default_factory=list)


def parse(text: str) -> list[Statement]:
    top: list[Statement] = []
    open_: list[tuple[int, list[Statement]]] = [(-1, top)]
    for number, line in enumerate(text.splitlines(), 1):
        code = line.strip()
        if not code or code.startswith("//"):
            continue
        indent = len(line) - len(line.lstrip())
        while indent <= open_[-1][0]:
            open_.pop()
        statement = Statement(number, code)
        open_[-1][1].append(statement)
        open_.append((indent, statement.body))
    return top


def walk(statements: list[Statement]) -> Iterator[list[Statement]]:
    """Every block of statements, the outer ones first."""
    yield statements
    for statement in statements:
        if statement.body:
            yield from walk(statement.body)


class Text:
    """The declarations of a Pine text."""

    def __init__(self, text: str) -> None:
        self.top = parse(text)
        self.variables: list[tuple[int, str, str]] = []  # line, name, type
        self.fields: dict[tuple[str, str], str] = {}
        self.functions: dict[str, Statement] = {}
        for block in walk(self.top):
            for statement in block:
                if match := DECLARED.match(statement.text):
                    self.variables.append((statement.number, match[2], match[1]))
                if match := re.match(r"^for (\w+) in (\w+)$", statement.text):
                    self.variables.append((statement.number, match[1], self.element(match[2])))
                if match := re.match(r"^for (\w+) = ", statement.text):
                    self.variables.append((statement.number, match[1], "int"))
        for statement in self.top:
            if statement.text.startswith("type "):
                owner = statement.text.split()[1]
                for part in statement.body:
                    kind, name = part.text.split()[:2]
                    self.fields[owner, name] = kind
            if match := FUNCTION.match(statement.text):
                self.functions[match[1]] = statement
                for parameter in filter(None, match[2].split(", ")):
                    kind, name = parameter.split()
                    self.variables.append((statement.number, name, kind))

    def element(self, name: str) -> str:
        return self.variable(name, 10**9).removeprefix("array<").removesuffix(">")

    def variable(self, name: str, line: int) -> str:
        """The type of a name as the nearest declaration above a line gives it."""
        known = [(at, kind) for at, own, kind in self.variables if own == name and at <= line]
        return max(known)[1] if known else "?"

    def path(self, path: str, line: int) -> str:
        name, *rest = path.split(".")
        kind = self.variable(name, line)
        for part in rest:
            kind = self.fields.get((kind, part), "?")
        return kind

    def result(self, statement: Statement) -> str:
        """The type of what a statement leaves as the value of its block."""
        text, line = statement.text, statement.number
        if match := DECLARED.match(text):
            return match[1]
        if match := ASSIGNED.match(text):
            return self.path(match[1], line)
        if text.startswith(("for ", "while ", "if ", "else")):
            return self.result(statement.body[-1])
        if match := CALLED.match(text):
            owner, _, name = match[1].rpartition(".")
            if not owner:
                function = self.functions.get(name)
                if function is None:
                    return "?"
                return self.result(function.body[-1]) if function.body else "?"
            if name in VOID.split() or name.startswith(("set_", "cell_set")):
                return "void"
            if name in ELEMENTS:
                return self.path(owner, line).removeprefix("array<").removesuffix(">")
            return owner if name == "new" else RETURNED.get(name, "?")
        if text in ("break", "continue"):
            return text
        if text in ("true", "false"):
            return "bool"
        return self.path(text, line) if re.fullmatch(r"[\w.]+", text) else "?"


def clashes(source: str) -> list[str]:
    """Branches of one `if` that end with values of different types (CE10235)."""
    text, found = Text(source), []
    for block in walk(text.top):
        chains: list[list[Statement]] = []
        for statement in block:
            match = BRANCH.match(statement.text)
            if match and match[1] == "if":
                chains.append([statement])
            elif match:
                chains[-1].append(statement)
        for chain in chains:
            kinds = {text.result(branch) for branch in chain}
            kinds = {"number" if kind in ("int", "float") else kind for kind in kinds}
            if len(kinds) > 1 or "?" in kinds:
                found.append(f"line {chain[0].number}: {', '.join(sorted(kinds))}")
    return found


def outer_assignments(source: str) -> list[str]:
    """Functions that assign to a parameter or to a variable outside of them."""
    text, found = Text(source), []
    for name, function in text.functions.items():
        own = {
            match[2]
            for block in walk(function.body)
            for statement in block
            if (match := DECLARED.match(statement.text))
        }
        found += [
            f"line {statement.number}: {name} assigns {match[1]}"
            for block in walk(function.body)
            for statement in block
            if (match := ASSIGNED.match(statement.text))
            and "." not in match[1]
            and match[1] not in own
        ]
    return found


def hidden_names(source: str) -> list[str]:
    """Variables and functions with the name of a namespace, a built-in or a reserved word."""
    text = Text(source)
    named = [(line, name) for line, name, _ in text.variables]
    taken = TAKEN | text.functions.keys()
    found = [f"line {line}: {name}" for line, name in named if name in taken]
    return found + [f"function {name}" for name in text.functions if name in TAKEN]


def redeclarations(source: str) -> list[str]:
    """Names that one block declares twice."""
    found = []
    for block in walk(parse(source)):
        names = [match[2] for line in block if (match := DECLARED.match(line.text))]
        found += sorted({name for name in names if names.count(name) > 1})
    return found


def loops_over_calls(source: str) -> list[str]:
    """Loops over something that has no name."""
    return re.findall(r"^ *for .* in .*\(.*$", source, re.MULTILINE)


def inputs(text: str) -> dict[str, tuple[str, Any, dict[str, Any]]]:
    """The inputs of a Pine text by title: kind, default, and the limits that it declares."""
    told = {}
    for match in re.finditer(r"= input\.(\w+)\((.*)\)$", text, re.MULTILINE):
        (default, title), options = arguments(match[2])
        options.pop("tooltip", None)
        told[title] = (match[1], default, options)
    return told


def declaration(text: str) -> tuple[str, dict[str, Any]]:
    """The title of a Pine text, and the other arguments of `indicator`."""
    match = re.search(r"^indicator\((.*)\)$", text, re.MULTILINE)
    assert match is not None
    (title,), options = arguments(match[1])
    return title, options


def arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Literal arguments of a Pine call, by position and by name; colours with their alpha."""
    text = re.sub(r"#([0-9a-fA-F]{6})", r'"#\1ff"', text)
    text = text.replace("true", "True").replace("false", "False")
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    named = {str(item.arg): ast.literal_eval(item.value) for item in call.keywords}
    named |= {name: tuple(value) for name, value in named.items() if isinstance(value, list)}
    return [ast.literal_eval(value) for value in call.args], named
