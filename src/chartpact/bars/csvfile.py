"""CSV files into tables of texts, with any common separator."""

import csv
import re
import sys
from collections.abc import Iterator
from io import StringIO

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError
from chartpact.bars.layout import FileLayout, find_layout
from chartpact.bars.numerals import Texts
from chartpact.bars.options import LoadOptions
from chartpact.bars.roles import read_columns
from chartpact.bars.table import BarTable

CHUNK = 100_000  # rows read at once
SHOW_PROGRESS = 200_000  # rows
LONGEST = 100  # bytes of a number or a time

Lines = NDArray[np.int64]

_MONTHS_AND_DAYS = frozenset(
    "jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun".split()
)
MOST_CLOSING_LINES = 20  # after the last bar


# Some rows: the texts of each wanted column, and the line that each row stands on.
Part = tuple[list[Texts], Lines]


def read(data: bytes, options: LoadOptions) -> BarTable:
    """The table of a CSV file's bytes."""
    text = _to_utf8(data)
    layout = find_layout(text, read_columns(options.get("columns")), options.get("symbol"))
    body, notes = _drop_closing_lines(text[layout.begin :], layout)
    body, repeated = _drop_headers(body, layout.header)
    wanted = layout.roles.names
    places = [layout.names.index(name) for name in wanted]
    split = _split_quoted if b'"' in body else _split_unquoted
    rows = split(body, layout.separator, layout.width, places, layout.line - 1)
    parts = list(_progress(rows, body))
    if not any(len(lines) for _, lines in parts):
        raise BarsError("the file has a header, but no bars")
    lines = np.concatenate([lines for _, lines in parts])
    columns = {
        name: np.concatenate([fields[number] for fields, _ in parts])
        for number, name in enumerate(wanted)
    }
    return BarTable(
        columns,
        lambda row: f"line {lines[row]}",
        notes=(*layout.notes, *repeated, *notes),
        symbol=layout.symbol,
        roles=layout.roles,
        shape=layout.shape,
    )


def _drop_headers(body: bytes, header: bytes) -> tuple[bytes, list[str]]:
    """The rows without the header that joined files repeat; its lines stay, as blank ones."""
    if not header or b"\n" + header not in body:
        return body, []
    lines = body.split(b"\n")
    count = lines.count(header)
    note = f"{count} repeated header{'s' if count > 1 else ''} left out"
    kept = b"\n".join(b"" if line == header else line for line in lines)
    return kept, [note] if count else []


def _drop_closing_lines(body: bytes, layout: FileLayout) -> tuple[bytes, list[str]]:
    """The rows without a sum or a remark after the last of them."""
    dropped = 0
    while dropped < MOST_CLOSING_LINES:
        body = body.rstrip()
        begin = body.rfind(b"\n") + 1
        if begin == 0 or len(body) - begin > LONGEST * layout.width:
            break
        if body.count(b'"', 0, begin) % 2:  # the line begins inside quotes
            break
        line = body[begin:].decode("utf-8", "replace")
        try:
            fields = next(csv.reader([line], delimiter=layout.separator, strict=True))
        except csv.Error:
            break
        if not _is_closing(fields, layout):
            break
        dropped += any(field.strip() for field in fields)
        body = body[:begin]
    noun = "line" if dropped == 1 else "lines"
    return body, [f"{dropped} {noun} after the last bar left out"] if dropped else []


def _is_closing(fields: list[str], layout: FileLayout) -> bool:
    """Whether a line cannot be a bar, nor a part of one: it has no time, and not all prices."""
    cells = dict(zip(layout.names, fields, strict=False))
    time = cells.get(layout.roles.date or layout.roles.time, "").strip()
    word = re.match(r"\W*([^\W\d]+)", time)
    timeless = not re.search(r"\d", time) or bool(
        word and word[1][:3].lower() not in _MONTHS_AND_DAYS
    )
    prices = [cells.get(name, "").strip() for name in layout.roles.prices]
    return timeless and not all(re.search(r"\d", price) for price in prices)


def _to_utf8(data: bytes) -> bytes:
    """UTF-8 bytes with one kind of line ends, whatever the file was saved as."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise BarsError("the file begins like UTF-16, but is not") from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        raise BarsError("the file holds zero bytes: it is not a CSV file")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _progress(parts: Iterator[Part], body: bytes) -> Iterator[Part]:
    rows = body.count(b"\n") + 1
    if rows < SHOW_PROGRESS or sys.stderr is None or not sys.stderr.isatty():
        yield from parts
        return
    from tqdm import tqdm

    with tqdm(total=rows, desc="reading bars", unit=" rows", leave=False) as bar:
        for part in parts:
            yield part
            bar.update(len(part[1]))


def _split_unquoted(
    body: bytes, separator: str, width: int, places: list[int], header: int
) -> Iterator[Part]:
    """Rows without quotes: the separators' places say where every field begins and ends."""
    text = np.frombuffer(body if body.endswith(b"\n") else body + b"\n", np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    cuts = np.flatnonzero(text == ord(separator))
    for first in range(0, len(ends), CHUNK):
        begin, end = starts[first : first + CHUNK], ends[first : first + CHUNK]
        lines = np.arange(first, first + len(end)) + header + 1
        inside = cuts[np.searchsorted(cuts, begin[0]) : np.searchsorted(cuts, end[-1])]
        counts = np.diff(np.searchsorted(inside, np.append(begin, end[-1])))
        blank = counts == 0
        blank[blank] = [
            not body[a:b].strip() for a, b in zip(begin[blank], end[blank], strict=True)
        ]
        ragged = ~blank & (counts != width - 1)
        if ragged.any():
            row = int(np.argmax(ragged))
            raise _wrong_width(int(lines[row]), int(counts[row]) + 1, width)
        if blank.any():
            begin, end, lines = begin[~blank], end[~blank], lines[~blank]
        inner = inside.reshape(len(end), width - 1)
        edges = np.column_stack((begin - 1, inner, end))
        _refuse_long(np.diff(edges)[:, places].max(axis=1, initial=0) - 1, lines)
        yield [_cut(text, edges[:, p] + 1, edges[:, p + 1]) for p in places], lines


def _cut(text: NDArray[np.uint8], begin: Lines, end: Lines) -> Texts:
    """The fields between these places, as one column of fixed-width texts."""
    if len(begin) == 0:
        return np.zeros(0, "S1")
    length = end - begin
    width = max(int(length.max()), 1)
    offset = np.arange(width)
    inside = offset < length[:, None]
    where = np.minimum(begin[:, None] + offset, len(text) - 1)
    rows = np.where(inside, text[where], np.uint8(0))
    return _strip(rows.view(f"S{width}").reshape(len(begin)))


def _split_quoted(
    body: bytes, separator: str, width: int, places: list[int], header: int
) -> Iterator[Part]:
    """Rows with quotes, read by the csv module."""
    reader = csv.reader(
        StringIO(body.decode("utf-8", "replace"), newline=""), delimiter=separator, strict=True
    )
    rows: list[list[bytes]] = []
    lines: list[int] = []
    while True:
        line = reader.line_num + header + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise BarsError(f"line {line}: {error}") from None
        if row is None or len(rows) == CHUNK:
            longest = [max(map(len, fields)) for fields in rows]
            _refuse_long(np.array(longest, np.int64), np.array(lines, np.int64))
            table = np.array(rows, np.bytes_).reshape(len(rows), len(places))
            fields = [_strip(np.ascontiguousarray(column)) for column in table.T]
            yield fields, np.array(lines, np.int64)
            rows, lines = [], []
        if row is None:
            return
        if not "".join(row).strip() and len(row) < 2:
            continue
        if len(row) != width:
            raise _wrong_width(line, len(row), width)
        rows.append([row[place].encode() for place in places])
        lines.append(line)


def _strip(texts: Texts) -> Texts:
    """The texts without the blanks around them; almost no file has any."""
    letters = texts.view(np.uint8)
    if not (letters == ord(" ")).any():
        return texts
    stripped: Texts = np.char.strip(texts)
    return stripped


def _refuse_long(length: Lines, lines: Lines) -> None:
    if (length > LONGEST).any():
        row = int(np.argmax(length > LONGEST))
        raise BarsError(f"line {lines[row]}: a field of {length[row]} bytes is no number or time")


def _wrong_width(line: int, count: int, width: int) -> BarsError:
    return BarsError(f"line {line} has {count} fields, but the header has {width}")
