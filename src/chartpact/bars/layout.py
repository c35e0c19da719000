"""Where the rows of a CSV file begin, and what its columns are called.

Most files have one header on their first line. Some have lines before it, two or three rows of
headings, or no header at all: those are recognised by the shape of their first row, or asked about.
"""

import csv
import re
from dataclasses import dataclass
from itertools import islice

from chartpact.bars.errors import BarsError
from chartpact.bars.roles import (
    TIME_NAMES,
    ColumnChoice,
    Roles,
    plain_name,
    roles,
    select_symbol,
)
from chartpact.prices import OHLC

SEPARATORS = ",;\t|"
MOST_LINES = 20  # before the header
LONGEST_LINE = 100_000  # bytes of a line that may be a header of several

_NUMBER = r"[+-]?[$€£]?\d[\d.,'\s]*(?:[eE][+-]?\d+)?[KMBkmb%]?"
_DATA = re.compile(_NUMBER)
_SEP = re.compile(r"sep=(.)", re.IGNORECASE)  # how a file tells Excel its separator


@dataclass(frozen=True)
class HeaderlessForm:
    """A file without a header that is known by its first row."""

    name: str
    row: tuple[str, ...]  # what the first fields look like
    columns: tuple[str, ...]
    widths: tuple[int, ...]


_EPOCH = r"\d{10}|\d{13}|\d{16}"
SHAPES = (
    HeaderlessForm(
        "Binance klines",
        (_EPOCH, *(_NUMBER,) * 5, _EPOCH),
        ("time", *OHLC, "volume"),
        (11, 12),
    ),
    HeaderlessForm(
        "MetaTrader",
        (r"\d{4}\.\d\d\.\d\d", r"\d\d:\d\d(?::\d\d)?", *(_NUMBER,) * 4),
        ("date", "time", *OHLC, "volume"),
        (6, 7),
    ),
    HeaderlessForm(
        "NinjaTrader",
        (r"\d{8}(?: \d{6})?", *(_NUMBER,) * 5),
        ("time", *OHLC, "volume"),
        (6,),
    ),
    HeaderlessForm(
        "Kraken",
        (r"\d{10}", *(_NUMBER,) * 5, r"\d+"),
        ("time", *OHLC, "volume"),
        (7,),
    ),
    HeaderlessForm(
        "FirstRate Data",
        (r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?", *(_NUMBER,) * 4),
        ("time", *OHLC, "volume"),
        (5, 6, 7),
    ),
)


@dataclass(frozen=True)
class FileLayout:
    """The columns of a file and where its rows begin."""

    separator: str
    names: list[str]  # of all columns; "" for one that is not read
    roles: Roles
    begin: int  # of the rows, in the text
    line: int  # the number of the first row's line
    width: int  # fields of a row
    symbol: str = ""
    shape: str = ""  # the name of the shape that the first row has
    header: bytes = b""  # as it is repeated where files were joined
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Line:
    number: int
    begin: int
    text: str
    end: int  # where the next line begins

    def fields(self, separator: str) -> list[str]:
        reader = csv.reader([self.text], delimiter=separator, skipinitialspace=True)
        try:
            return [field.strip() for field in next(reader, [])]
        except csv.Error as error:
            raise BarsError(f"line {self.number}: {error}") from None


def find_layout(text: bytes, columns: ColumnChoice | None, symbol: str | None) -> FileLayout:
    """The layout of a file; raises BarsError with a question where nothing tells it."""
    lines = _first_lines(text)
    if not lines:
        raise BarsError("the file is empty")
    declared = _SEP.fullmatch(lines[0].text.strip())
    if declared and len(lines) > 1:
        lines = lines[1:]
    separator = declared[1] if declared and declared[1] in SEPARATORS else ""
    if columns is not None and columns.order:
        return _in_given_order(lines, separator, columns)
    refusal: BarsError | None = None
    for place, line in enumerate(lines):
        mark = separator or _separator_of(line)
        fields = line.fields(mark)
        if _is_data(fields):
            break
        try:
            layout = _two_rows(lines[place:], mark, columns, symbol) or _one_row(
                line, lines[place + 1 :], mark, fields, columns
            )
        except BarsError as error:
            refusal = refusal or error
            continue
        if place:
            skipped = f"line {lines[0].number} is" if place == 1 else f"{place} lines are"
            note = f"{skipped} not read: the header is on line {line.number}"
            layout = FileLayout(**{**layout.__dict__, "notes": (note, *layout.notes)})
        return layout
    if refusal is not None:
        raise refusal
    return _without_header(lines[0], separator)


def _first_lines(text: bytes) -> list[_Line]:
    lines: list[_Line] = []
    begin, number = _skip_blank(text)
    while begin < len(text) and len(lines) < MOST_LINES:
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        if lines and end - begin > LONGEST_LINE:
            break
        content = text[begin:end].decode("utf-8", "replace")
        if content.strip():
            lines.append(_Line(number, begin, content, end + 1))
        begin, number = end + 1, number + 1
    return lines


_BLANK_LINES = re.compile(rb"(?:[^\S\n]*\n)*")


def _skip_blank(text: bytes) -> tuple[int, int]:
    begin = _BLANK_LINES.match(text).end()  # type: ignore[union-attr]  # it matches any text
    return begin, 1 + text.count(b"\n", 0, begin)


def _separator_of(line: _Line) -> str:
    """The commonest separator; of a row, rather not the decimal comma of its numbers."""
    for mark in SEPARATORS.replace(",", ""):
        if line.text.count(mark) >= 4 and _is_data(line.fields(mark)):
            return mark
    return max(SEPARATORS, key=line.text.count)


def _is_data(fields: list[str]) -> bool:
    """Whether a line holds numbers enough to be a bar."""
    return sum(bool(_DATA.fullmatch(field)) for field in fields) >= 4


def _one_row(
    line: _Line, rows: list[_Line], separator: str, fields: list[str], columns: ColumnChoice | None
) -> FileLayout:
    names = list(fields)
    values = rows[0].fields(separator) if rows else []
    dated = values and re.search(r"\d[-./:]\d", values[0])
    if names[0] in ("", "Unnamed: 0") and dated and not _has_time(names[1:]):
        names[0] = "time"  # of an index without a name
    which = roles(names, columns)
    notes = which.notes
    width = len(names)
    if len(values) == width + 1 and not values[-1]:
        width += 1  # every row ends with a separator
    elif len(values) == width - 1 and not names[-1]:
        width, names = width - 1, names[:-1]
    begin, number, symbol = line.end, line.number + 1, ""
    if values and _is_second_row(which, names, values):
        labels = list(zip(names, values, strict=True))
        names, symbol = select_symbol(labels, None)
        begin, number = rows[0].end, rows[0].number + 1
    header = line.text.encode()
    return FileLayout(
        separator, names, which, begin, number, width, symbol, header=header, notes=notes
    )


def _has_time(names: list[str]) -> bool:
    return any(plain_name(name) in TIME_NAMES for name in names)


def _is_second_row(which: Roles, names: list[str], values: list[str]) -> bool:
    """Whether the row after the header names the symbol of each price column, and no time."""
    if len(values) != len(names):
        return False
    cells = dict(zip(names, values, strict=True))
    owners = {cells[name] for name in which.prices}
    return not cells[which.time] and len(owners) == 1 and not _DATA.fullmatch(owners.pop() or "0")


def _two_rows(
    lines: list[_Line], separator: str, columns: ColumnChoice | None, symbol: str | None
) -> FileLayout | None:
    """Headings of two rows, prices and symbols, as pandas writes a frame of yfinance.

    A third row then holds the name of the index.
    """
    rows = [line.fields(separator) for line in lines[:4]]
    if len(rows) < 3 or len({len(row) for row in rows[:3]}) > 1:
        return None
    third = plain_name(rows[2][0]) in TIME_NAMES and not any(rows[2][1:])
    corner = {plain_name(row[0]) for row in rows[:2]}
    if not third or not corner <= {"", "price", "ticker", "attributes", "symbols"}:
        return None
    labels = [(rows[2][0], ""), *zip(rows[0][1:], rows[1][1:], strict=True)]
    names, owner = select_symbol(labels, symbol)
    which = roles(names, columns)
    note = f"symbol {owner} by the second row of headings"
    notes = (*which.notes, *([note] if symbol is None else []))
    begin, number = lines[2].end, lines[2].number + 1
    return FileLayout(separator, names, which, begin, number, len(names), owner, notes=notes)


def _in_given_order(lines: list[_Line], separator: str, columns: ColumnChoice | None) -> FileLayout:
    """The caller names all columns; the first line is a row unless it holds no numbers."""
    row = (line for line in lines if _is_data(line.fields(separator or _separator_of(line))))
    line = next(row, lines[0])
    separator = separator or _separator_of(line)
    fields = line.fields(separator)
    names = [f"column {number}" for number in range(1, len(fields) + 1)]
    notes = () if line is lines[0] else (f"the header before line {line.number} is not read",)
    which = roles(names, columns)
    return FileLayout(separator, names, which, line.begin, line.number, len(names), notes=notes)


def _without_header(line: _Line, separator: str) -> FileLayout:
    separator = separator or _separator_of(line)
    fields = line.fields(separator)
    width = len(fields)
    if fields and not fields[-1]:
        fields = fields[:-1]
    for shape in SHAPES:
        looks = zip(shape.row, fields, strict=False)
        if len(fields) in shape.widths and all(re.fullmatch(form, text) for form, text in looks):
            if shape.name == "Binance klines" and not int(fields[6]) - int(fields[0]) > 0:
                continue
            order = shape.columns[: len(fields)]
            names = [*order, *("" for _ in range(width - len(order)))]
            note = f"without a header, its rows are read as {shape.name}: {', '.join(order)}"
            return FileLayout(
                separator,
                names,
                roles(names),
                line.begin,
                line.number,
                width,
                shape=shape.name,
                notes=(note,),
            )
    raise BarsError(
        f"line {line.number} is a row and not a header, and nothing tells which column is which: "
        f"say it, as in columns={_propose(fields)!r}",
        option="columns",
    )


def _propose(fields: list[str]) -> str:
    """The columns in their usual order, as an example of what to say."""
    usual = ["time", *OHLC, "volume"]
    if len(fields) > 6 and re.fullmatch(r"\d\d?:\d\d.*", fields[1]):
        usual = ["date", *usual]
    return ",".join(islice([*usual, *("-" for _ in fields)], len(fields)))
