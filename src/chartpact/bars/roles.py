"""Which column is which: headings in any order and case, and the names that exporters give them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from chartpact.bars.errors import BarsError
from chartpact.prices import OHLC
from chartpact.problem import did_you_mean

# The first of these that a table has is its time; those in UTC_NAMES need no zone.
TIME_NAMES = (
    "time_utc", "time", "timestamp", "datetime", "date_time", "unix", "date", "open_time",
    "gmt_time", "date_utc", "datetime_utc", "timestamp_utc", "local_time", "ts_event",
    "window_start", "t",
)  # fmt: skip
UTC_NAMES = ("time_utc", "gmt_time", "date_utc", "datetime_utc", "timestamp_utc", "ts_event")
VOLUME_NAMES = ("volume", "vol", "real_volume", "v")
TICK_VOLUME_NAMES = ("tickvol", "tick_volume", "tickvolume")
SYMBOL_NAMES = ("symbol", "ticker")
# What a column may be called where none has the plain name.
OTHER_NAMES = {
    "open": ("o", "mid_o"),
    "high": ("h", "mid_h"),
    "low": ("l", "mid_l"),
    "close": ("c", "mid_c", "last", "price", "close_last"),
}
WANTED = (*TIME_NAMES, *OHLC, *VOLUME_NAMES, *TICK_VOLUME_NAMES)
ROLES = ("time", "date", *OHLC, "volume")
MOST_LISTED = 20  # names of columns in a refusal


@dataclass(frozen=True)
class ColumnChoice:
    """What a caller says of columns: headings by role, or the roles of all in their order."""

    headings: tuple[tuple[str, str], ...] = ()  # "" where there is to be no such column
    order: tuple[str, ...] = ()  # "" for a column that is not read


# How a caller may say it: role → heading, the roles in order, or a text for either.
ColumnsLike: TypeAlias = str | Mapping[str, str] | Sequence[str] | ColumnChoice


@dataclass(frozen=True)
class Roles:
    """The names of the columns that hold times, prices and volumes."""

    time: str
    date: str | None  # a second column that holds the date of each time
    prices: tuple[str, ...]
    volumes: tuple[str, ...]  # the first that is not all zero counts
    symbol: str | None = None  # a column that says whose bar each row is
    utc: bool = False  # whether the heading says that times are in UTC
    billionths: bool = False  # whether whole numbers are billionths of prices, as Databento's are
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def names(self) -> list[str]:
        """All columns that bars are made of."""
        names = [self.time, self.date, *self.prices, *self.volumes, self.symbol]
        return list(dict.fromkeys(name for name in names if name is not None))


def plain_name(name: str) -> str:
    """A heading in lower case, with one underscore for all between its words.

    >>> plain_name(" <TickVol> "), plain_name("Open Time"), plain_name("Time (UTC)")
    ('tickvol', 'open_time', 'time_utc')
    """
    words = re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")
    return re.sub(r"^\d+_(?=[a-z])", "", words)  # Alpha Vantage counts them: "1. open"


def read_columns(columns: ColumnsLike | None) -> ColumnChoice | None:
    """The option `columns`, of which a text is how the command line writes it.

    >>> read_columns("time=Zeit,close=Kurs").headings, read_columns("time,-,open").order
    ((('time', 'Zeit'), ('close', 'Kurs')), ('time', '', 'open'))
    """
    if columns is None or isinstance(columns, ColumnChoice):
        return columns
    if not isinstance(columns, str | Mapping | Sequence):
        raise BarsError(f"columns is {columns!r:.40}: write it as 'time=Date,close=Price'")
    if isinstance(columns, str):
        parts = [part.strip() for part in columns.split(",")]
        if any("=" in part for part in parts):
            pairs = [part.partition("=") for part in parts]
            columns = {role.strip(): heading.strip() for role, _, heading in pairs}
        else:
            columns = parts
    if isinstance(columns, Mapping):
        _check_roles([str(role) for role in columns])
        if empty := [role for role, name in columns.items() if not name and role != "volume"]:
            raise BarsError(f"columns has no name for {empty[0]}: only the volume may be left out")
        return ColumnChoice(
            headings=tuple((str(role), str(name)) for role, name in columns.items())
        )
    order = tuple("" if role in ("-", "_") else str(role) for role in columns)
    _check_roles([role for role in order if role])
    return ColumnChoice(order=order)


def _check_roles(names: list[str]) -> None:
    for name in names:
        if name not in ROLES:
            hint = did_you_mean(name, ROLES, before="; ")
            raise BarsError(
                f"columns has {name!r:.40}: it tells where {', '.join(ROLES)} are{hint}"
            )
    if len(set(names)) < len(names):
        raise BarsError("columns has one of its names twice")


def roles(names: list[str], columns: ColumnsLike | None = None) -> Roles:
    """Finds the columns of a bar among headings in any order and case; `columns` overrides."""
    chosen = _choose(names, read_columns(columns))
    headings: dict[str, str] = {}
    taken = set(chosen.values())
    for name in names:
        plain = plain_name(name)
        if plain in chosen or name in taken:
            continue
        if plain in WANTED and plain in headings:
            first = f"; columns='{plain}={name}' takes the first" if headings[plain] == name else ""
            message = f"there are two columns called {plain}{first or _ask(plain)}"
            raise BarsError(message, option="columns")
        headings.setdefault(plain, name)
    headings |= {role: name for role, name in chosen.items() if name}
    notes = _use_other_names(headings)
    time = "time" if "time" in chosen else next((n for n in TIME_NAMES if n in headings), None)
    missing = [*([] if time else ["time"]), *(name for name in OHLC if name not in headings)]
    if time is None or missing:
        raise _missing(names, headings, missing)
    both = time == "time" and "date" in headings and ("date" in chosen or "time" not in chosen)
    if "volume" in chosen:
        volumes = ["volume"] if chosen["volume"] else []
    else:
        volumes = [name for name in (*VOLUME_NAMES, *TICK_VOLUME_NAMES) if name in headings]
        unread = [name for plain, name in headings.items() if "vol" in plain and name not in taken]
        if not volumes and unread:
            listed = " and ".join(repr(name) for name in unread[:3])
            notes.append(f"no volume is read: there is {listed}, and columns= may name one of them")
    symbol = next((headings[name] for name in SYMBOL_NAMES if name in headings), None)
    return Roles(
        time=headings[time],
        date=headings["date"] if both else None,
        prices=tuple(headings[name] for name in OHLC),
        volumes=tuple(headings[name] for name in volumes),
        symbol=symbol,
        utc=time in UTC_NAMES,
        billionths=time == "ts_event" and "rtype" in headings,
        notes=tuple(notes),
    )


def _choose(names: list[str], columns: ColumnChoice | None) -> dict[str, str]:
    """Role → heading, as the option says it; "" where there is to be no such column."""
    if columns is None:
        return {}
    if columns.order:
        count = len(columns.order)
        if count > len(names):
            raise BarsError(f"columns has {count} names, but there are {len(names)} columns")
        placed = zip(columns.order, names, strict=False)
        return {"volume": "", **{role: name for role, name in placed if role}}
    chosen = {}
    for role, heading in columns.headings:
        match = [name for name in names if name == heading]
        match = match or [name for name in names if plain_name(name) == plain_name(heading) != ""]
        if heading and not match:
            hint = did_you_mean(heading, names, before="; ")
            raise BarsError(f"columns says that {role} is {heading!r:.40}: no column is{hint}")
        chosen[role] = match[0] if heading else ""
    return chosen


def _use_other_names(headings: dict[str, str]) -> list[str]:
    """Puts columns with another name of a price in its place; the notes of it."""
    notes = []
    for role, others in OTHER_NAMES.items():
        present = [name for name in others if name in headings]
        if role in headings or not present:
            continue
        if len(present) > 1:
            listed = " or ".join(repr(headings[name]) for name in present)
            raise BarsError(f"{role} may be {listed}{_ask(role)}", option="columns")
        headings[role] = headings[present[0]]
        if len(present[0]) > 1:
            notes.append(f"column {headings[role]!r} is read as the {role}")
    return notes


def _ask(role: str) -> str:
    role = "volume" if role in (*VOLUME_NAMES, *TICK_VOLUME_NAMES) else role
    role = "time" if role in TIME_NAMES else role
    return f": say which one it is with columns='{role}=NAME'"


def _missing(names: list[str], headings: dict[str, str], missing: list[str]) -> BarsError:
    more = ", …" if len(names) > MOST_LISTED else ""
    listed = ", ".join(f"{name!r:.40}" for name in names[:MOST_LISTED]) + more or "none"
    others = [name for plain, name in headings.items() if plain not in WANTED]
    hints = "".join(did_you_mean(name, others, before="; ") for name in missing if name in OHLC)
    needs = " and ".join(missing)
    accepted = ""
    if "time" in missing:
        accepted = " (a time column is called time, date, datetime, timestamp or the like)"
    return BarsError(
        f"no column {needs}{accepted}; the columns are {listed}{hints}; "
        "say which are others with columns='close=NAME'",
        option="columns",
    )


def select_symbol(labels: Sequence[tuple[str, str]], wanted: str | None) -> tuple[list[str], str]:
    """The headings of one symbol's columns, and the symbol, where headings have two rows.

    Of each column the two labels are in any order; columns of other symbols have the heading "".

    >>> select_symbol([("Date", ""), ("Close", "AAPL"), ("Open", "AAPL")], None)
    (['Date', 'Close', 'Open'], 'AAPL')
    """
    prices = [sum(plain_name(label[row]) in OHLC for label in labels) for row in (0, 1)]
    row = int(prices[1] > prices[0])
    owners = [label[1 - row] for label in labels]
    symbols = list(
        dict.fromkeys(own for own, label in zip(owners, labels, strict=True)
                      if own and plain_name(label[row]) in OHLC)
    )  # fmt: skip
    symbol = pick_symbol(symbols, wanted, "columns of")
    headings = [
        label[row] or own if own in (symbol, "") or not label[row] else ""
        for own, label in zip(owners, labels, strict=True)
    ]
    return headings, symbol


def pick_symbol(symbols: Sequence[str], wanted: str | None, what: str) -> str:
    """The one symbol there is, or of several the one that is wanted."""
    if len(symbols) == 1:
        return symbols[0]
    if wanted in symbols:
        return str(wanted)
    listed = ", ".join(symbols[:8]) + (", …" if len(symbols) > 8 else "")
    hint = did_you_mean(wanted, symbols, before="; ") if wanted else ""
    raise BarsError(
        f"there are {what} {len(symbols)} symbols, {listed}: say which one with symbol={hint}",
        option="symbol",
    )
