"""Python code under construction: one function a step of a reading, each line knowing its place.

Functions take what they work on and `S`, the list of everything the reading has found so far; what
they use of it they fetch first. A line that raises is found again by its number, so that finding
the place in the contract costs nothing while all goes well.
"""

import re
from collections.abc import Iterable
from types import CodeType

FILENAME = "<contract>"
_COLUMN = re.compile("⟨([a-z]+)\\.([a-z0-9_.]+)⟩")


class Module:
    """The functions of one contract."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.paths: dict[int, str] = {}  # line number → place in the contract
        self.columns: dict[str, list[str]] = {}  # channel → the columns its rows have
        self.places: dict[str, int] = {}  # variable → its index in S

    def place(self, variable: str) -> int:
        """Where a variable is found in S."""
        return self.places.setdefault(variable, len(self.places))

    def function(self, name: str, arguments: str, free: Iterable[str]) -> None:
        self._lines.append(f"def {name}({arguments}):")
        self._lines += [f"    {each} = S[{self.place(each)}]" for each in sorted(free)]

    def line(self, code: str, path: str = "", indent: int = 1) -> None:
        """Adds a line of code that carries out what stands at a path of the contract."""
        written = _COLUMN.sub(self._column, code)
        assert "⟨" not in written and "§" not in written and "\n" not in written, written
        self._lines.append("    " * indent + written)
        if path:
            self.paths[len(self._lines)] = path

    def _column(self, match: re.Match[str]) -> str:
        channel, column = match[1], match[2]
        order = self.columns.setdefault(channel, [])
        if column not in order:
            order.append(column)
        return str(order.index(column) + 1)  # place 0 is the row's number

    @property
    def source(self) -> str:
        return "\n".join(self._lines) + "\n"

    def compile(self) -> CodeType:
        return compile(self.source, FILENAME, "exec")
