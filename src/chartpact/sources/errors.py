"""What can go wrong with sources of bars, each said as one sentence."""

from collections.abc import Iterable

from chartpact.bars import BarsError
from chartpact.bars.errors import UnknownBars
from chartpact.problem import Failure, Problem, nearest

SAMPLE_HINT = "sample:es-5m is bundled synthetic data, for a try"


class UnknownSymbol(UnknownBars):
    """No bars go by that name; the message lists what is near."""


class Misconfigured(BarsError):
    """The sources are not described as they must be."""

    KIND = "unavailable"


class SourceFailed(Failure):
    """A source could not deliver: unreachable, refused, or with an answer that makes no sense."""

    def __init__(self, message: str, hint: str = "", **details: str) -> None:
        super().__init__(Problem("unavailable", message, hint, details=details))


def not_installed(who: str, library: str, extra: str) -> SourceFailed:
    """The failure of a source whose library is an extra that is not installed."""
    return SourceFailed(
        f"{who} needs {library}, which is not installed: it comes with chartpact[{extra}]",
        SAMPLE_HINT,
        extra=extra,
    )


def near(symbol: str, known: Iterable[str]) -> str:
    """`; near: …` when known symbols resemble the one asked for, else nothing.

    >>> near("btcusdt", ["ETH/EUR", "BTC/USDT"])
    '; near: BTC/USDT'
    """
    symbols = nearest(symbol, known, 3)
    return f"; near: {', '.join(symbols)}" if symbols else ""
