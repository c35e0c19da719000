"""The options of `load`: what a caller knows better than the data."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypedDict

from chartpact.bars.errors import BarsError, translate_clock_errors
from chartpact.bars.roles import ColumnsLike, read_columns
from chartpact.clock.markets import Market
from chartpact.clock.zones import zone
from chartpact.options import Option, read_table
from chartpact.problem import did_you_mean


class LoadOptions(TypedDict, total=False):
    """The one table of them; an option that is None is as one that is not there."""

    tz: Annotated[
        str | None,
        Option("time zone of times that name none", "ZONE", longest=64),
    ]
    stamp: Annotated[Literal["open", "close"] | None, Option("what of a bar its time is")]
    columns: Annotated[
        ColumnsLike | None,
        Option(
            "which column is which, as close=Price, or all in order: time,open,high,low,close",
            "ROLE=NAME,…",
            longest=500,
        ),
    ]
    sort: Annotated[
        bool | None,
        Option("sort rows by time; without it those that are newest first are turned around"),
    ]
    date_order: Annotated[
        Literal["dmy", "mdy"] | None, Option("whether 03.04.2024 has the day first")
    ]
    decimal: Annotated[Literal[".", ","] | None, Option("the sign before decimals")]
    symbol: Annotated[str | None, Option("the symbol of the bars", "NAME", longest=64)]
    timeframe: Annotated[
        str | None,
        Option("the timeframe, as in 5m, 4h or 1D; bars of a shorter one add up", "TF", longest=8),
    ]
    resample_stamp: Annotated[
        Literal["first", "period"] | None,
        Option("what of longer bars their time is: of their first bar, or the period's start"),
    ]
    last: Annotated[int | None, Option("only so many bars, the last ones", "N", above=0)]
    tick_size: Annotated[float | None, Option("the smallest price step", "X", above=0)]
    day_roll: Annotated[
        str | None,
        Option("when a trading day begins: '17:00 America/New_York'", "TIME", longest=80),
    ]
    market: Annotated[
        Market | None,
        Option("on which days it trades: all, Monday to Friday, or listed"),
    ]


# Those that say how the rows of a file or a frame are read.
OF_CONTENT = ("tz", "stamp", "columns", "sort", "date_order", "decimal")

# Those that say which bars are made of the rows.
SHAPING = ("timeframe", "resample_stamp", "last")


def content_options(options: LoadOptions) -> list[str]:
    """The options that are for files and frames, of those that are given."""
    return [name for name in OF_CONTENT if options.get(name) is not None]


@translate_clock_errors()
def check_options(options: Mapping[str, object]) -> LoadOptions:
    """The options that are given; raises BarsError on a value that none of them takes."""
    table = read_table(LoadOptions)
    given = LoadOptions()
    for name, value in options.items():
        if name not in table:
            hint = did_you_mean(name, table, before="; ")
            raise BarsError(f"bars have no option {name!r:.80} among {', '.join(table)}{hint}")
        if value is None:
            continue
        if not table[name].accepts(value):
            raise BarsError(f"{name} is {value!r:.40}: it is {table[name].in_words}")
        given[name] = value  # type: ignore[literal-required]
    if (tz := given.get("tz")) is not None:
        zone(tz)  # a misspelt zone is an error even where every time has an offset
    if "columns" in given:
        given["columns"] = read_columns(given["columns"])
    return given
