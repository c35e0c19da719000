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
NEW_YORK_EXCHANGES = frozenset("AMEX ARCA BATS CBOE NASDAQ NYSE OTC".split())
# Funds and shares that a symbol without its exchange means; others are told by `market`.
NEW_YORK_SHARES = frozenset(
    "SPY QQQ DIA IWM VOO VTI IVV MDY RSP TLT IEF SHY HYG LQD GLD SLV USO UNG XLF XLK XLE XLV XLI "
    "XLY XLP XLU XLB XLC XLRE SMH SOXX ARKK EEM EFA FXI EWZ VXX UVXY TQQQ SQQQ SPXL SPXS TNA TZA "
    "KRE XBI IBB GDX VNQ SCHD JEPI IBIT "
    "AAPL MSFT NVDA GOOG GOOGL AMZN META TSLA AVGO BRK.A BRK.B BRK-A BRK-B JPM LLY UNH XOM JNJ PG "
    "HD ABBV MRK CVX KO PEP ADBE CRM AMD NFLX INTC CSCO ORCL QCOM TXN IBM WMT MCD DIS NKE "
    "BAC WFC GS MS BA GE MMM UPS FDX PFE TMO ABT DHR LIN NEE AMGN PYPL SQ SHOP UBER ABNB PLTR "
    "MSTR GME AMC RIVN LCID NIO BABA TSM ASML SMCI MU".split()
)
COINS = re.compile(
    r"(?:BTC|XBT|ETH|SOL|XRP|ADA|DOGE|BNB|LTC|BCH|DOT|AVAX|LINK|TRX|MATIC|SHIB|UNI|ATOM|XLM|ETC)"
    r"|.+(?:USDT|USDC|BUSD|FDUSD)(?:\.P|PERP)?$"
)
_CONTRACT = re.compile(r"([A-Z0-9]+?)(?:[FGHJKMNQUVXZ](?:\d{1,2}|20\d\d)|\d!|=F)?")


def day_roll_of_dates(roll: str) -> str:
    """The day roll of daily bars whose times are dates, at midnight UTC, where `roll` is usual.

    A date is a day's name and no moment: at a midnight elsewhere it would lie in the day before.
    """
    return UTC_MIDNIGHT if roll == NEW_YORK_MIDNIGHT else roll


def market_and_roll(symbol: str) -> tuple[Market, str]:
    """The kind of market and the day roll that a symbol's name tells.

    >>> market_and_roll("OANDA:EUR_USD"), market_and_roll("ESZ2026")
    (('fx', '17:00 America/New_York'), ('listed', '18:00 America/New_York'))
    >>> market_and_roll("BTCUSDT"), market_and_roll("NASDAQ:AAPL")
    (('24x7', 'UTC midnight'), ('listed', '00:00 America/New_York'))
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
    if exchange in NEW_YORK_EXCHANGES or (not exchange and name in NEW_YORK_SHARES):
        return LISTED, NEW_YORK_MIDNIGHT
    return LISTED if exchange in EXCHANGES else EVERY_DAY, UTC_MIDNIGHT


def explain_guess(symbol: str) -> str:
    """What was guessed of a symbol's market because its name tells little; "" where it tells all.

    >>> explain_guess("SPY")
    'SPY is taken for a share or fund of New York: its days begin at midnight there'
    >>> explain_guess("ESZ2026"), explain_guess("BTC/USDT")
    ('', '')
    """
    if not symbol or market_and_roll(symbol) != market_and_roll(""):
        known = symbol.upper() in NEW_YORK_SHARES
        where = "a share or fund of New York: its days begin at midnight there"
        return f"{symbol} is taken for {where}" if known else ""
    if not re.fullmatch(r"[A-Z]{1,6}([.-][A-Z])?", symbol) or COINS.match(symbol):
        return ""
    return (
        f"nothing tells on which days {symbol} trades: every day is taken for one, from midnight "
        "UTC (market='listed' and day_roll='00:00 America/New_York' say that of a US share)"
    )


def check_market(text: object) -> str:
    """The kind of market that a text names."""
    if text in MARKETS:
        return str(text)
    hint = did_you_mean(str(text), MARKETS, before="; ")
    raise ClockError(
        f"{text!r:.80} is no kind of market: write '{EVERY_DAY}' (every day), '{FX}' (Monday to "
        f"Friday) or '{LISTED}' (the days that have bars){hint}"
    )
