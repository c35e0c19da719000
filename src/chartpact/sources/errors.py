"""What can go wrong where bars come from, each said as one sentence."""

from collections.abc import Iterable
from difflib import get_close_matches

from chartpact.bars import BarsError


class UnknownSymbol(BarsError):
    """No bars go by that name; the message lists what is near."""


class Misconfigured(BarsError):
    """The sources are not described as they must be."""


class SourceFailed(Exception):
    """A source could not deliver: unreachable, refused, or with an answer that makes no sense."""


def near(symbol: str, known: Iterable[str]) -> str:
    """`; near: …` when known symbols resemble the one asked for, else nothing.

    >>> near("btcusdt", ["ETH/EUR", "BTC/USDT"])
    '; near: BTC/USDT'
    """
    plain: dict[str, str] = {}
    for each in known:
        plain.setdefault(each.lower(), each)
    found = get_close_matches(symbol.lower()[:80], plain, 3, 0.5)
    return f"; near: {', '.join(plain[each] for each in found)}" if found else ""
