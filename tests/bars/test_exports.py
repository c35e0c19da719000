"""Files as platforms export them load as they are; what was guessed is noted, the rest is asked."""

import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import chartpact as cp
from chartpact.bars import BarsError

NEW_YORK = {"tz": "America/New_York"}
OPENS = [10.0, 11.0, 12.0]
PRICES = [(10.0, 12.0, 9.0, 11.0), (11.0, 13.0, 10.0, 12.0), (12.0, 14.0, 11.0, 13.0)]


def ms(*when):
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 1000


@pytest.fixture
def load(tmp_path):
    def write(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return cp.load(path, **options)

    return write


@pytest.fixture
def refused(load):
    def question(content, name="x.csv", **options):
        with pytest.raises(BarsError) as caught:
            load(name, content, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return question


def rows(write, count=3):
    """Lines of rows, each made from its number and prices."""
    return "".join(write(n, *PRICES[n % 3]) + "\n" for n in range(count))


def prices_of(bars):
    return [tuple(bar)[1:5] for bar in bars]


# ------------------------------------------------------------------------------- the listed shapes


def test_tradingview(load):
    def write(n, *prices):
        return f"{1_709_562_600 + 300 * n},{','.join(map(str, prices))},{100 + n},1.5"

    bars = load("CME_MINI_ES1!, 5.csv", "time,open,high,low,close,Volume,VWAP\n" + rows(write))
    assert (bars.symbol, bars.timeframe, bars.market) == ("CME_MINI:ES1!", "5m", "listed")
    assert prices_of(bars) == PRICES
    assert bars.volume.tolist() == [100, 101, 102]


@pytest.mark.parametrize("unit", [1, 1_000])  # ms, and µs since 2025
def test_headerless_binance_klines(load, unit):
    def write(n, *prices):
        time = (1_735_689_600_000 + 3_600_000 * n) * unit
        numbers = ",".join(f"{price:.8f}" for price in prices)
        return f"{time},{numbers},5.5,{time + 3_600_000 * unit - 1},60.1,7,2.5,30.2,0"

    bars = load("BTCUSDT-1h-2025-01.csv", rows(write))
    assert (bars.symbol, bars.timeframe, bars.market) == ("BTCUSDT", "1h", "24x7")
    assert bars.time[0] == ms(2025, 1, 1)
    assert prices_of(bars) == PRICES
    assert bars.volume.tolist() == [5.5] * 3
    assert any(
        "read as Binance klines: time, open, high, low, close, volume" in n for n in bars.notes
    )


def test_metatrader_4(load, refused):
    def write(n, *prices):
        return f"2024.03.04,11:{15 * n:02},{','.join(map(str, prices))},60"

    assert "has no time zone" in refused(rows(write), "EURUSD15.csv")
    bars = load("EURUSD15.csv", rows(write), tz="Europe/Athens")
    assert (bars.symbol, bars.timeframe, bars.market) == ("EURUSD", "15m", "fx")
    assert bars.time[0] == ms(2024, 3, 4, 9)
    assert prices_of(bars) == PRICES
    assert bars.volume.tolist() == [60] * 3
    assert any("read as MetaTrader: date, time, open" in note for note in bars.notes)


def test_ninjatrader_stamps_closes(load, refused):
    def write(n, *prices):
        return f"20240304 09{31 + n}00;{';'.join(map(str, prices))};250"

    assert "has no time zone" in refused(rows(write), "ES 03-24.Last.txt")
    bars = load("ES 03-24.Last.txt", rows(write), **NEW_YORK)
    assert (bars.symbol, bars.timeframe, bars.market) == ("ESH2024", "1m", "listed")
    assert bars.time[0] == ms(2024, 3, 4, 14, 30)
    assert prices_of(bars) == PRICES
    assert "times are the bars' closes, as in NinjaTrader's files of this name" in bars.notes
    opens = load("ES 03-24.Last.txt", rows(write), stamp="open", **NEW_YORK)
    assert opens.time[0] == ms(2024, 3, 4, 14, 31)


def test_ninjatraders_rows_under_another_name_say_that_opens_were_assumed(load):
    def write(n, *prices):
        return f"20240304 09{31 + n}00;{';'.join(map(str, prices))};250"

    bars = load("mine.txt", rows(write), **NEW_YORK)
    assert bars.time[0] == ms(2024, 3, 4, 14, 31)
    assert any("NinjaTrader's are closes" in note for note in bars.notes)


def test_ninjatrader_daily_bars_are_dates(load):
    text = "20240304;10;12;9;11;250\n20240305;11;13;10;12;250\n20240306;12;14;11;13;250\n"
    bars = load("AAPL.Last.txt", text)
    assert (bars.timeframe, bars.time[0]) == ("1D", ms(2024, 3, 4))


def test_sierra_chart(load):
    head = "Date, Time, Open, High, Low, Last, Volume, NumberOfTrades, BidVolume, AskVolume\n"

    def write(n, *prices):
        return f"2024/3/4, 09:{30 + n}:00.000000, {', '.join(map(str, prices))}, 77, 5, 40, 37"

    bars = load("ESH24-CME.scid_BarData.txt", head + rows(write), **NEW_YORK)
    assert (bars.symbol, bars.timeframe, bars.market) == ("ESH24", "1m", "listed")
    assert bars.time[0] == ms(2024, 3, 4, 14, 30)
    assert prices_of(bars) == PRICES
    assert "column 'Last' is read as the close" in bars.notes


INVESTING = """"Date","Price","Open","High","Low","Vol.","Change %"
"03/15/2024","5,117.09","5,123.31","5,136.86","5,104.35","1.2M","-0.65%"
"03/14/2024","5,150.48","5,175.14","5,176.85","5,123.30","12.3K","-0.29%"
"03/13/2024","5,165.31","5,173.49","5,179.14","5,151.88","-","-0.19%"
"""


def test_investing(load):
    bars = load("S&P 500 Historical Data.csv", b"\xef\xbb\xbf" + INVESTING.encode())
    assert (bars.symbol, bars.timeframe) == ("S&P 500", "1D")
    assert bars.time.tolist() == [ms(2024, 3, 13), ms(2024, 3, 14), ms(2024, 3, 15)]
    assert bars.close.tolist() == [5165.31, 5150.48, 5117.09]
    assert bars.open.tolist() == [5173.49, 5175.14, 5123.31]
    assert bars.volume[1:].tolist() == [12_300, 1_200_000]
    assert np.isnan(bars.volume[0])
    assert bars.notes == (
        "symbol S&P 500 by the file's name",
        "column 'Price' is read as the close",
        "rows were newest first, and are turned around",
        "dates are month first, by '03/15/2024' (line 2)",
        "numbers have a comma between thousands, by '5,173.49' (line 4)",
    )


def test_investing_in_europe(load):
    text = re.sub(r'"(\d\d)/(\d\d)/2024"', r'"\2.\1.2024"', INVESTING)
    text = re.sub(r"(\d),(\d{3})\.(\d\d)", r"\1.\2,\3", text).replace("12.3K", "12,3K")
    text = text.replace("1.2M", "1,2M").replace(".65%", ",65%")
    american = load("S&P 500 Historical Data.csv", INVESTING)
    bars = load("S&P 500 Historical Data.csv", text)
    assert bars == american
    assert "dates are day first, by '15.03.2024' (line 2)" in bars.notes
    assert any(note.startswith("numbers have a decimal comma, by '5.") for note in bars.notes)


def yfinance_frame(tickers, rows=3, names=("Price", "Ticker")):
    index = pd.date_range("2024-03-04", periods=rows, freq="D", name="Date")
    columns = {}
    for shift, ticker in enumerate(tickers):
        for place, price in ((3, "Close"), (1, "High"), (2, "Low"), (0, "Open")):
            columns[price, ticker] = [PRICES[n][place] + shift for n in range(rows)]
        columns["Volume", ticker] = [100] * rows
    frame = pd.DataFrame(columns, index=index)
    frame.columns = pd.MultiIndex.from_tuples(columns, names=names)
    return frame


@pytest.mark.parametrize("names", [("Price", "Ticker"), (None, None)])
@pytest.mark.parametrize("by_ticker", [False, True])
def test_yfinance_with_two_header_rows(load, names, by_ticker):
    frame = yfinance_frame(["AAPL"], names=names)
    if by_ticker:
        frame = frame.swaplevel(axis=1)
    bars = load("prices.csv", frame.to_csv())
    assert (bars.symbol, bars.timeframe, bars.time[0]) == ("AAPL", "1D", ms(2024, 3, 4))
    assert prices_of(bars) == PRICES
    assert "symbol AAPL by the second row of headings" in bars.notes
    assert cp.Bars.from_pandas(frame) == cp.Bars(**{**bars.__dict__, "source": "pandas frame"})


def test_yfinance_without_its_index_row(load):
    bars = load("prices.csv", yfinance_frame(["AAPL"]).reset_index().to_csv(index=False))
    assert (bars.symbol, prices_of(bars)) == ("AAPL", PRICES)


def test_of_several_symbols_one_is_asked_for(load, refused):
    frame = yfinance_frame(["AAPL", "MSFT"])
    told = refused(frame.to_csv())
    assert "columns of 2 symbols, AAPL, MSFT: say which one with symbol=" in told
    bars = load("two.csv", frame.to_csv(), symbol="MSFT")
    assert (bars.symbol, bars.open.tolist()) == ("MSFT", [11.0, 12.0, 13.0])
    with pytest.raises(BarsError, match=r"2 symbols, AAPL, MSFT.*did you mean 'MSFT'"):
        cp.Bars.from_pandas(frame, symbol="MSTF")
    assert cp.Bars.from_pandas(frame, symbol="AAPL").open.tolist() == OPENS


def test_a_column_of_symbols(load, refused):
    def write(n, *prices):
        return f"{60 * n + 60},BTC/USDT,{','.join(map(str, prices))}"

    text = "unix,symbol,open,high,low,close\n" + rows(write)
    assert load("cdd.csv", text).symbol == "BTC/USDT"
    both = text + rows(write).replace("BTC", "ETH")
    assert "rows of 2 symbols, BTC/USDT, ETH/USDT: say which one with symbol=" in refused(both)
    eth = load("cdd.csv", both, symbol="ETH/USDT")
    assert (eth.symbol, prices_of(eth)) == ("ETH/USDT", PRICES)
    broken = both.replace("180,ETH/USDT,12.0", "180,ETH/USDT,x")
    assert "line 7: open 'x'" in refused(broken, symbol="ETH/USDT")  # as a person counts


# ---------------------------------------------------------------------------------- forms of dates


HEAD = "date,open,high,low,close\n"


def dated(*dates):
    return HEAD + "".join(f"{date},10,12,9,11\n" for date in dates)


def test_day_first_is_told_by_a_day_above_twelve(load):
    bars = load("x.csv", dated("11.03.2024", "12.03.2024", "13.03.2024"))
    assert bars.time.tolist() == [ms(2024, 3, 11), ms(2024, 3, 12), ms(2024, 3, 13)]
    assert bars.notes == ("dates are day first, by '13.03.2024' (line 4)",)


def test_month_first_is_told_by_a_day_above_twelve(load):
    assert load("x.csv", dated("3/12/2024", "3/13/2024")).time[0] == ms(2024, 3, 12)


@pytest.mark.parametrize("dash", [".", "/", "-"])
def test_what_no_date_tells_is_asked_for(load, refused, dash):
    text = dated(*(f"{day:02}{dash}04{dash}2024" for day in (3, 5, 6)))
    told = refused(text)
    assert f"line 2: date '03{dash}04{dash}2024' may have the day or the month first" in told
    assert "date_order='dmy' or 'mdy'" in told
    assert load("x.csv", text, date_order="dmy").time[0] == ms(2024, 4, 3)
    assert load("x.csv", text, date_order="mdy").time[0] == ms(2024, 3, 4)
    assert "date_order is 'ymd'" in refused(text, date_order="ymd")


def test_dates_of_both_orders_are_refused(refused):
    told = refused(dated("13.03.2024", "03.14.2024"))
    assert "'13.03.2024' (line 2) has the day first, and '03.14.2024' (line 3) the month" in told


def test_a_question_names_its_option(load):
    for text, option in (
        (dated("2024-03-13 09:30"), "tz"),
        (dated("03.04.2024"), "date_order"),
        (priced("1,234"), "decimal"),
        ("60,10,12,9,11\n", "columns"),
        (yfinance_frame(["A", "B"]).to_csv(), "symbol"),
    ):
        with pytest.raises(BarsError) as caught:
            load("x.csv", text)
        assert caught.value.option == option
        assert "command line" not in str(caught.value)  # which only the shell's door names


def test_an_order_that_the_dates_contradict_is_refused(refused):
    told = refused(dated("13.03.2024", "14.03.2024"), date_order="mdy")
    assert "line 2: date '13.03.2024' is not a time" in told
    assert "dates were read month first" in told


def test_a_year_of_two_digits_needs_its_order(load, refused):
    text = dated("13/03/24", "14/03/24")
    assert "has a year of two digits, which may be first or last" in refused(text)
    assert load("x.csv", text, date_order="dmy").time[0] == ms(2024, 3, 13)
    assert load("x.csv", dated("3/13/99"), date_order="mdy").time[0] == ms(1999, 3, 13)
    assert "is not a time" in refused(text, date_order="mdy")


@pytest.mark.parametrize("text", ["13-Mar-2024", "Mar 13, 2024", "13 March 2024", "mar. 13 2024"])
def test_months_may_have_names(load, text):
    assert load("x.csv", dated(f'"{text}"')).time[0] == ms(2024, 3, 13)
    timed = load("x.csv", dated(f'"{text} 9:30 PM"', f'"{text} 10:30 PM"'), tz="UTC")
    assert timed.time[0] == ms(2024, 3, 13, 21, 30)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-03-13", "14.03.2024"),
        ("13.03.2024", "14/03/2024"),
        ("2024-03-13T09:30:00Z", "2024-03-13 09:31:00"),
        ("2024-03-13 09:30", "1710322260"),
        ("13.03.2024 9:30 AM", "13.03.2024 9:31"),
    ],
)
def test_one_column_has_one_form_of_times(refused, first, second):
    told = refused(dated(first, second), tz="UTC")
    assert f"line 3: date '{second}' is written otherwise than '{first}' (line 2)" in told


def test_am_and_pm(load, refused):
    texts = ["12:00 AM", "1:00 AM", "11:00 AM", "12:00 PM", "1:00 pm", "11:00 p.m."]
    text = dated(*(f"03/13/2024 {text}" for text in texts))
    hours = [
        (t - ms(2024, 3, 13)) // 3_600_000 for t in load("x.csv", text, tz="UTC").time.tolist()
    ]
    assert hours == [0, 1, 11, 12, 13, 23]
    assert "'03/13/2024 13:00 PM' is not a time" in refused(dated("03/13/2024 13:00 PM"), tz="UTC")


def test_am_and_pm_in_a_column_of_its_own(load):
    text = "Date,Time,Open,High,Low,Close\n03/13/2024,9:30:00 AM,10,12,9,11\n"
    assert load("x.csv", text + "03/13/2024,1:30:00 PM,10,12,9,11\n", tz="UTC").time.tolist() == [
        ms(2024, 3, 13, 9, 30),
        ms(2024, 3, 13, 13, 30),
    ]


def test_dukascopy_says_its_zone(load):
    text = "Gmt time,Open,High,Low,Close,Volume\n" + "".join(
        f"13.03.2024 09:{30 + n}:00.000,10,12,9,11,5\n" for n in range(3)
    )
    assert load("EURUSD_Candlestick_1_M_BID.csv", text).time[0] == ms(2024, 3, 13, 9, 30)
    local = text.replace("Gmt", "Local").replace(".000,", ".000 GMT+0100,")
    assert load("EURUSD_x.csv", local).time[0] == ms(2024, 3, 13, 8, 30)


def test_units_of_epochs_are_not_mixed(refused):
    for old, new in ((1e9, 1e12), (1e12, 1e15)):  # s then ms, ms then µs
        times = [int(1.7 * old) + n for n in range(2)] + [int(1.8 * new) + n for n in range(3)]
        told = refused(dated(*times).replace("date", "time"))
        assert f"line 2: time {times[0]} is in another unit than {times[2]} (line 4)" in told


def test_a_spreadsheets_days_are_no_seconds_of_1970(refused):
    told = refused(dated("45355.39583", "45355.39652"))
    assert "line 2: time 45355.39583 looks like a spreadsheet's count of days" in told


def test_whole_numbers_of_a_frame_may_be_dates():
    frame = {"time": [20240304, 20240305], **dict(zip(("open", "high", "low", "close"),
             ([1, 1],) * 4, strict=True))}  # fmt: skip
    assert cp.Bars.from_columns(frame).time[0] == ms(2024, 3, 4)


# ---------------------------------------------------------------------------------------- the order


def newest_first(step_minutes=30, count=8, start=datetime(2022, 11, 6, 3, 0)):
    times = [start + timedelta(minutes=step_minutes * n) for n in range(count)]
    return dated(*(f"{time:%Y-%m-%d %H:%M}" for time in reversed(times)))


def test_newest_first_is_turned_around_and_said(load, refused):
    bars = load("x.csv", newest_first(), tz="UTC")
    assert (np.diff(bars.time) == 1_800_000).all()
    assert bars.notes == ("rows were newest first, and are turned around",)
    assert "line 3: time" in refused(newest_first(), tz="UTC", sort=False)


def test_a_line_is_named_as_it_stands_in_a_file_that_is_newest_first(refused):
    text = newest_first().replace("05:30,10,12", "05:30,10,x")
    assert "line 4: high 'x'" in refused(text, tz="UTC")


def test_the_hour_that_clocks_repeat_is_read_right_in_a_file_that_is_newest_first(load):
    times = ["00:30", "01:00", "01:30", "01:00", "01:30", "02:00"]
    text = dated(*(f"2022-11-06 {time}" for time in reversed(times)))
    bars = load("x.csv", text, **NEW_YORK)
    assert (np.diff(bars.time) == 1_800_000).all()


def test_rows_in_no_order_are_sorted_only_when_asked(load, refused):
    lines = dated("2024-03-04", "2024-03-06", "2024-03-05", "2024-03-07")
    assert "line 4: time 2024-03-05T00:00:00Z comes after 2024-03-06T00:00:00Z" in refused(lines)
    assert "sort=True" in refused(lines)
    bars = load("x.csv", lines, sort=True)
    assert (np.diff(bars.time) > 0).all()
    assert bars.notes == ("rows were sorted by time",)
    twice = lines + "2024-03-05,10,12,9,11\n"
    assert "is there twice" in refused(twice, sort=True)
    assert "sort is 'yes'" in refused(lines, sort="yes")


# -------------------------------------------------------------------------------------- the numbers


def priced(*prices, volume="1", separator=";"):
    return (
        f"time{separator}open{separator}high{separator}low{separator}close{separator}volume\n"
        + "".join(
            separator.join([str(60 * n + 60), *[price] * 4, volume]) + "\n"
            for n, price in enumerate(prices)
        )
    )


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1234,5", "1234,25"], [1234.5, 1234.25]),
        (["1.234,50", "999,25"], [1234.5, 999.25]),
        (["1,234.50", "999.25"], [1234.5, 999.25]),
        (["1,234,567", "2,345,678"], [1234567, 2345678]),
        (["1 234,50", "1 234,25"], [1234.5, 1234.25]),
        (["1'234.50", "1'234.25"], [1234.5, 1234.25]),
        (["12,34,567.50", "99.25"], [1234567.5, 99.25]),
        (["0,123", "0,124"], [0.123, 0.124]),
        (["1234,567", "1234,568"], [1234.567, 1234.568]),
        (["$185.64", "$1,185.60"], [185.64, 1185.6]),
    ],
)
def test_thousands_and_decimals(load, texts, values):
    assert load("x.csv", priced(*texts)).close.tolist() == values


def test_a_comma_that_may_be_either_is_asked_about(load, refused):
    text = priced("1,234", "1,235")
    told = refused(text)
    assert "line 2: open '1,234' may have thousands or decimals after its comma" in told
    assert "decimal='.' or decimal=','" in told
    assert load("x.csv", text, decimal=",").close.tolist() == [1.234, 1.235]
    assert load("x.csv", text, decimal=".").close.tolist() == [1234, 1235]


def test_three_decimals_do_not_tell_what_the_comma_of_a_volume_is(load, refused):
    text = priced("150.123", "150.124", volume="1,234")
    assert "may have thousands or decimals" in refused(text)
    assert load("x.csv", text, decimal=".").volume.tolist() == [1234, 1234]
    assert load("x.csv", priced("150.12", "150.13", volume="1,234")).volume[0] == 1234


def test_points_and_commas_before_decimals_are_not_mixed(refused):
    told = refused(priced("1,234.50", "1.234,50"))
    assert (
        "'1,234.50' (line 2) has a decimal point, and '1.234,50' (line 3) has a decimal comma"
        in told
    )


@pytest.mark.parametrize("text", ["1,23.50", "1,2345.5", "12K", "0.50%", "1..5", "1,,234.5", "(5)"])
def test_what_is_no_price(refused, text):
    assert f"line 3: open '{text}' is not a number" in refused(priced("1,234.50", text))


@pytest.mark.parametrize(
    ("text", "value"), [("12.3K", 12_300), ("1.2M", 1_200_000), ("3.45B", 3_450_000_000), ("7", 7)]
)
def test_scales_of_volumes(load, text, value):
    assert load("x.csv", priced("1.5", "1.75", volume=text)).volume[0] == value


# --------------------------------------------------------------------------------- rows around bars


BARS = "time,open,high,low,close\n60,10,12,9,11\n120,11,13,10,12\n"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (BARS + "\n\n  \n", None),
        (BARS + ",,,,\n,,,,\n", None),
        (BARS + "Total,,,,\n", "1 line after the last bar left out"),
        (BARS + '"Highest: 13, lowest: 9",,,,\n', "1 line after the last bar left out"),
        (BARS + "Highest: 13,Lowest: 9\n\nend\n", "2 lines after the last bar left out"),
        (BARS + '"Downloaded from Barchart.com as of 03-04-2024"\n', "1 line after"),
        ("https://www.example.com\n" + BARS, "line 1 is not read: the header is on line 2"),
        ("Bars of XYZ\nmade in 2024\n\n" + BARS, "2 lines are not read: the header is on line 4"),
        ("sep=,\n" + BARS, None),
        (BARS.replace("120,", "time,open,high,low,close\n120,"), "1 repeated header left out"),
        (re.sub("$", ",", BARS.strip(), flags=re.M), None),
        (BARS.replace("11\n", "11,\n").replace("12\n", "12,\n"), None),
        (BARS.encode("utf-16-le").join((b"\xff\xfe", b"")), None),
    ],
)
def test_lines_that_are_no_bars(load, text, note):
    bars = load("x.csv", text)
    assert (bars.time.tolist(), bars.close.tolist()) == ([60_000, 120_000], [11, 12])
    assert (note is None and not bars.notes) or bars.notes[0].startswith(note)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BARS + "180,12\n", "line 4 has 2 fields"),  # cut off
        (BARS + "180,12,14,11,\n", "line 4: close is nan"),
        (BARS + "soon,12,14,11,13\n", "line 4: time 'soon' is not a time"),
        (BARS + "Total,,,,\n180,12,14,11,13\n", "line 4: time 'Total' is not a time"),
        (BARS + "time,close,open,high,low\n180,13,12,14,11\n", "line 4: time 'time' is not a time"),
        ("60,10,12,9,11\n" + BARS, "line 1 is a row and not a header"),
    ],
)
def test_lines_that_may_be_bars_are_not_left_out(refused, text, told):
    assert told in refused(text)


# ---------------------------------------------------------------------------------------- columns=


def test_columns_by_name(load, refused):
    text = "Zeit,Anfang,Hoch,Tief,Ende,Menge\n60,10,12,9,11,5\n120,11,13,10,12,6\n"
    assert "say which are others with columns='close=NAME'" in refused(text)
    names = {"time": "Zeit", "open": "Anfang", "high": "Hoch", "low": "Tief", "close": "Ende"}
    bars = load("x.csv", text, columns=names)
    assert bars.close.tolist() == [11, 12]
    assert np.isnan(bars.volume).all()
    spelled = ",".join(f"{role}={name}" for role, name in names.items())
    assert load("x.csv", text, columns=f"{spelled},volume=menge").volume.tolist() == [5, 6]
    assert "columns says that close is 'Endo': no column is; did you mean 'Ende'?" in refused(
        text, columns={**names, "close": "Endo"}
    )
    assert "columns has 'closing'" in refused(text, columns={"closing": "Ende"})
    assert "columns is 5" in refused(text, columns=5)
    assert "columns has no name for time" in refused(text, columns="time=")


def test_columns_override_a_name_that_is_there(load):
    text = BARS.replace("close\n", "close,adjusted\n").replace("11\n", "11,10.5\n")
    bars = load("x.csv", text.replace(",12\n", ",12,11.5\n"), columns={"close": "adjusted"})
    assert bars.close.tolist() == [10.5, 11.5]


def test_columns_in_their_order(load, refused):
    text = "1,60,11,12,9,10\n1,120,12,13,10,11\n"
    assert "columns='time,open,high,low,close,volume'" in refused(text)
    bars = load("x.csv", text, columns="-,time,close,high,low,open")
    assert (bars.open.tolist(), bars.close.tolist()) == ([10, 11], [11, 12])
    headed = load(
        "x.csv", "a,b,c,d,e,f\n" + text, columns=["-", "time", "close", "high", "low", "open"]
    )
    assert headed == bars
    assert "columns has 7 names, but there are 6 columns" in refused(
        text, columns="time,open,high,low,close,volume,-"
    )
    assert "columns has one of its names twice" in refused(text, columns="time,time")


def test_two_columns_that_may_be_the_close_are_a_question(load, refused):
    text = "time,open,high,low,last,price\n60,10,12,9,11,11.5\n120,11,13,10,12,12.5\n"
    assert (
        "close may be 'last' or 'price': say which one it is with columns='close=NAME'"
        in refused(text)
    )
    assert load("x.csv", text, columns="close=price").close.tolist() == [11.5, 12.5]


def test_of_two_columns_with_one_name_the_first_is_taken_when_asked(load, refused):
    text = "time,open,high,low,close,close\n60,10,12,9,11,99\n120,11,13,10,12,99\n"
    assert "two columns called close; columns='close=close' takes the first" in refused(text)
    assert load("x.csv", text, columns="close=close").close.tolist() == [11, 12]


def test_a_volume_that_is_not_read_is_said(load):
    text = BARS.replace("close\n", "close,Volume BTC\n").replace("11\n", "11,5\n")
    bars = load("x.csv", text.replace(",12\n", ",12,6\n"))
    assert bars.notes[0].startswith("no volume is read: there is 'Volume BTC'")
