"""What a file's name says of its bars: the symbol, often the timeframe, sometimes the stamps."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from chartpact.clock.errors import ClockError
from chartpact.clock.markets import EXCHANGES, FX, market_and_roll
from chartpact.clock.timeframe import Timeframe

ENDINGS = re.compile(r"(?:\.(?:csv|tsv|txt|prn|parquet|pq|json|dbn|gz|zst))+$", re.IGNORECASE)
_COPY = re.compile(r" ?\(\d+\)$")  # what a browser adds to the second download of a name

_TRADINGVIEW = re.compile(r"(?P<chart>[^,]*[^,\s]), ?(?P<interval>\d*[A-Za-z]?)(?:_[0-9a-f]{4,})?")
_BINANCE = re.compile(r"(?P<symbol>[A-Z0-9_]+)-(?P<interval>\d+(?:mo|[smhdw]))(?:-\d{2,4})*")
_NINJATRADER = re.compile(
    r"(?P<root>[^\s.]+)(?: (?P<month>0[1-9]|1[0-2])-(?P<year>\d\d))?(?P<side>\.(?:Last|Bid|Ask))?"
)
_SIERRA = re.compile(r"(?P<symbol>[^.]+?)(?:[-_](?:FUT_)?[A-Z]+)?\.(?:scid|dly)(?:_.*)?")
_INVESTING = re.compile(r"(?P<symbol>.+?)(?: Stock)? (?:Historical (?:Data|Prices)|Price History)")
_METATRADER = re.compile(r"(?P<symbol>.{6,}?)(?P<minutes>1|5|15|30|60|240|1440|10080|43200)")
_MINUTES = {"1440": "1D", "10080": "1W", "43200": "1M"}  # of MetaTrader's longer timeframes

_DELAYED = ("", "_DL", "_DLY")  # what TradingView adds to the exchange of delayed prices
_MONTHS = "FGHJKMNQUVXZ"  # letters of a future's delivery months, January to December
_SPAN = re.compile(  # a word of a name that says how long bars are, or when
    r"\d+(?:[smhdwSMHDW]|min|mo)?|[MHDW]\d+|MN1?|\d{4}[-.]\d\d?(?:[-.]\d\d?)?"
    r"|(?:daily|hourly|weekly|monthly|minute|intraday)",
    re.IGNORECASE,
)
NO_TIME = re.compile(r"\d+[TR]")  # an interval of TradingView that counts ticks or prices


@dataclass(frozen=True)
class NameClues:
    """What a file's name says; `stamp` is "" where it says nothing of the stamps."""

    symbol: str = ""
    timeframe: str = ""
    stamp: str = ""
    guessed: bool = False  # whether the symbol is not just the name


NO_CLUES = NameClues()


def read_name(name: str) -> NameClues:
    """What the name of a file says of its bars.

    >>> read_name("CME_MINI_ES1!, 5.csv")
    NameClues(symbol='CME_MINI:ES1!', timeframe='5m', stamp='', guessed=True)
    """
    stem = _COPY.sub("", ENDINGS.sub("", name))
    for shape, read in _SHAPES:
        match = shape.fullmatch(stem)
        clues = read(match) if match else None
        if clues is not None:
            return clues
    symbol = _first_words(stem)
    return NameClues(symbol, guessed=symbol != stem)


def _read_tradingview(match: re.Match[str]) -> NameClues | None:
    interval = match["interval"]
    timeframe = interval if NO_TIME.fullmatch(interval) else _timeframe(re.sub("S$", "s", interval))
    return (
        NameClues(_symbol_of_chart(match["chart"]), timeframe, guessed=True) if timeframe else None
    )


def _symbol_of_chart(chart: str) -> str:
    """EXCHANGE:SYMBOL of a chart's name, in which an underscore stands for the colon."""
    listed = (name + suffix for name in EXCHANGES for suffix in _DELAYED)
    known = [name for name in listed if chart.startswith(f"{name}_")]
    exchange = max(known, key=len) if known else chart.rpartition("_")[0]
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", exchange):
        return chart
    return f"{exchange}:{chart[len(exchange) + 1 :]}"


def _read_binance(match: re.Match[str]) -> NameClues | None:
    timeframe = _timeframe(match["interval"].replace("mo", "M"))
    return NameClues(match["symbol"], timeframe, guessed=True) if timeframe else None


def _read_ninjatrader(match: re.Match[str]) -> NameClues | None:
    root, month, side = match["root"], match["month"], match["side"]
    if month is None and side is None:
        return None
    symbol = f"{root}{_MONTHS[int(month) - 1]}20{match['year']}" if month else root
    return NameClues(symbol, stamp="close" if side else "", guessed=True)


def _read_metatrader(match: re.Match[str]) -> NameClues | None:
    symbol, minutes = match["symbol"], match["minutes"]
    if market_and_roll(symbol)[0] != FX or not symbol[-1].isalpha():
        return None  # US30.csv is no file of US
    return NameClues(symbol, _timeframe(_MINUTES.get(minutes, minutes)), guessed=True)


def _read_symbol(match: re.Match[str]) -> NameClues | None:
    return NameClues(match["symbol"], guessed=True)


_SHAPES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], NameClues | None]], ...] = (
    (_TRADINGVIEW, _read_tradingview),
    (_BINANCE, _read_binance),
    (_SIERRA, _read_symbol),
    (_INVESTING, _read_symbol),
    (_NINJATRADER, _read_ninjatrader),
    (_METATRADER, _read_metatrader),
)


def _first_words(stem: str) -> str:
    """The words of a name before its timeframe and dates; the first alone where it is a market's.

    >>> _first_words("ESZ13_1m_2013-10-06"), _first_words("alpha_one"), _first_words("ES_old")
    ('ESZ13', 'alpha_one', 'ES')
    """
    words = re.split(r"([_,\s]+)", stem)
    if _has_market(words[0]):
        return words[0]
    if re.fullmatch(r"[A-Z_]+_[A-Z0-9.]+!?", stem) and words[0] in EXCHANGES:
        return _symbol_of_chart(stem)
    until = next((n for n in range(2, len(words), 2) if _SPAN.fullmatch(words[n])), len(words) + 1)
    symbol = "".join(words[: until - 1])
    bare = re.sub(r"-\d+(?:[smhHdDwWM]|min)$", "", symbol)
    return bare or stem


def _has_market(symbol: str) -> bool:
    """Whether a symbol's name alone says that it is a currency pair, a metal or a future."""
    return market_and_roll(symbol) != market_and_roll("")


def _timeframe(text: str) -> str:
    try:
        return str(Timeframe.parse(text))
    except ClockError:
        return ""
