"""Kinds of markets: on which days each trades, and what a symbol's name says about it."""

import re
from typing import Final, Literal, TypeAlias, get_args

from chartpact.clock.errors import ClockError
from chartpact.problem import did_you_mean

EVERY_DAY: Final = "24x7"  # every calendar day
FX: Final = "fx"  # Monday to Friday, holidays included
LISTED: Final = "listed"  # the days from Monday to Friday that have bars
Market: TypeAlias = Literal["24x7", "fx", "listed"]
MARKETS: tuple[str, ...] = get_args(Market)

UTC_MIDNIGHT = "UTC midnight"
NEW_YORK_MIDNIGHT = "00:00 America/New_York"
FX_ROLL = "17:00 America/New_York"
FUTURES_ROLL = "18:00 America/New_York"

CURRENCIES = frozenset(
    "AUD BRL CAD CHF CNH CNY CZK DKK EUR GBP HKD HUF ILS INR JPY KRW MXN NOK NZD PLN RUB SEK SGD "
    "THB TRY USD ZAR".split()
)
METALS = frozenset("XAU XAG XPT XPD".split())  # spot metals keep the hours of the futures
FUTURES = frozenset(
    "ES MES NQ MNQ YM MYM RTY M2K NKD EMD CL MCL QM NG QG RB HO BZ GC MGC SI SIL HG PL PA "
    "ZN ZB ZF ZT TN UB 6A 6B 6C 6E 6J 6M 6N 6S M6A M6B M6E".split()
)
EXCHANGES = frozenset(  # of stocks and futures, as TradingView writes them before the colon
    "AMEX ARCA ASX BATS BSE CBOE CBOT CBOT_MINI CME CME_MINI COMEX COMEX_MINI EUREX EURONEXT HKEX "
    "ICEEUR ICEUS LSE MIL NASDAQ NSE NYMEX NYMEX_MINI NYSE OTC SIX SSE SZSE TSE TSX XETR".split()
)
_CONTRACT = re.compile(r"([A-Z0-9]+?)(?:[FGHJKMNQUVXZ](?:\d{1,2}|20\d\d)|\d!|=F)?")


def market_and_roll(symbol: str) -> tuple[Market, str]:
    """The kind of market and the day roll that a symbol's name tells.

    >>> market_and_roll("OANDA:EUR_USD"), market_and_roll("ESZ2026")
    (('fx', '17:00 America/New_York'), ('listed', '18:00 America/New_York'))
    >>> market_and_roll("BTCUSDT"), market_and_roll("NASDAQ:AAPL")
    (('24x7', 'UTC midnight'), ('listed', 'UTC midnight'))
    """
    exchange, _, name = symbol.upper().rpartition(":")
    exchange = re.sub(r"_DLY?$", "", exchange)  # TradingView's mark of delayed prices
    letters = re.sub(r"=X$|[^A-Z]", "", name)
    if len(letters) == 6 and letters[3:] in CURRENCIES:
        if letters[:3] in CURRENCIES:
            return FX, FX_ROLL
        if letters[:3] in METALS:
            return FX, FUTURES_ROLL
    contract = _CONTRACT.fullmatch(name.lstrip("/"))
    if contract and contract[1] in FUTURES:
        return LISTED, FUTURES_ROLL
    return LISTED if exchange in EXCHANGES else EVERY_DAY, UTC_MIDNIGHT


def check_market(text: object) -> str:
    """The kind of market that a text names."""
    if text in MARKETS:
        return str(text)
    hint = did_you_mean(str(text), MARKETS, before="; ")
    raise ClockError(
        f"{text!r:.80} is no kind of market: write '{EVERY_DAY}' (every day), '{FX}' (Monday to "
        f"Friday) or '{LISTED}' (the days that have bars){hint}"
    )
