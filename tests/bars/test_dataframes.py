"""Bars from what other libraries hold: NumPy, pandas, polars and Parquet."""

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import Bars, BarsError

FIRST = int(datetime(2024, 3, 4, 14, 30, tzinfo=UTC).timestamp()) * 1000
TIME = FIRST + 60_000 * np.arange(3)
MOMENTS = TIME.astype("datetime64[ms]")
PRICES = {
    "Open": [10.0, 11, 12],
    "High": [12.0, 13, 14],
    "Low": [9.0, 10, 11],
    "Close": [11.0, 12, 13],
    "Volume": [100, 200, 300],
}
EXPECTED = Bars(TIME, *PRICES.values(), "ES", "1m")
KNOWN = {"symbol": "ES"}


def alike(bars):
    return all(
        getattr(bars, name).tolist() == getattr(EXPECTED, name).tolist() for name in cp.bars.COLUMNS
    ) and (bars.symbol, bars.timeframe, bars.tick_size) == ("ES", "1m", None)


@in_one_test(
    "time",
    [
        TIME,
        TIME // 1000,
        TIME * 1_000_000,
        TIME / 1000,
        (TIME // 1000).tolist(),
        (TIME // 1000).astype(np.int32),
        TIME.astype(np.uint64),
        [f"{moment}Z" for moment in MOMENTS],
        np.array([f"{moment}Z" for moment in MOMENTS], dtype=object),
    ],
)
def test_columns_with_times_of_many_kinds(time):
    assert alike(Bars.from_columns({"time": time, **PRICES}, **KNOWN))


def test_datetime64_is_naive_and_needs_a_zone():
    with pytest.raises(BarsError, match="row 0: time 2024-03-04T14:30:00 has no time zone"):
        Bars.from_columns({"time": MOMENTS, **PRICES})
    assert alike(Bars.from_columns({"time": MOMENTS, **PRICES}, tz="UTC", **KNOWN))
    assert alike(Bars.from_columns({"time_utc": MOMENTS, **PRICES}, **KNOWN))


def test_a_structured_array():
    rows = np.array(
        list(zip(TIME, *PRICES.values(), strict=True)),
        dtype=[("time", "i8"), *((name, "f8") for name in PRICES)],
    )
    assert alike(Bars.from_numpy(rows, **KNOWN))
    with pytest.raises(BarsError, match="structured array"):
        Bars.from_numpy(np.zeros((3, 6)))


def test_the_arrays_given_stay_the_callers_own():
    mine = np.array(PRICES["Close"])
    bars = Bars.from_columns({"time": TIME, **PRICES, "Close": mine}, **KNOWN)
    mine[0] = 11.5
    assert bars.close[0] == 11
    assert mine.flags.writeable


@in_one_test(
    ("changes", "told"),
    [
        ({"Close": [11.0, np.nan, 13]}, "row 1: close is nan"),
        ({"Close": [11.0, None, 13]}, "row 1: close is nan"),
        ({"Close": ["11", "x", "13"]}, "row 1: close 'x' is not a number"),
        ({"Close": [11.0, 12]}, "close has 2 values, but time has 3"),
        ({"time": [TIME[0], TIME[0], TIME[2]]}, "row 1: time .* is there twice"),
        ({"time": [1.0, np.nan, 3.0]}, "row 1: time is nan"),
        ({"time": np.array(["2024-01-01", "NaT", "2024-01-03"], "M8[D]")}, "row 1: time is empty"),
        ({"Close": np.zeros((3, 1))}, "Close has 2 dimensions"),
        ({"time": [], **{name: [] for name in PRICES}}, "there are no bars"),
    ],
)
def test_the_row_is_named(changes, told):
    with pytest.raises(BarsError, match=told):
        Bars.from_columns({"time": TIME, **PRICES} | changes)


def test_dates_and_times_of_day_in_two_columns():
    moments = [datetime.fromtimestamp(ms / 1000, UTC) for ms in TIME.tolist()]
    days, clocks = [each.date() for each in moments], [each.time() for each in moments]
    for columns in (
        {"date": days, "time": clocks},
        {"date": np.array(days, "M8[D]"), "time": clocks},
    ):
        assert alike(Bars.from_columns(columns | PRICES, tz="UTC", **KNOWN))
    both = {"date": days, "time": clocks, **PRICES}
    assert alike(Bars.from_polars(pl.DataFrame(both), tz="UTC", **KNOWN))
    frame = pd.DataFrame(both).assign(date=pd.DatetimeIndex(MOMENTS).normalize())
    assert alike(Bars.from_pandas(frame, tz="UTC", **KNOWN))


def test_times_that_are_python_datetimes():
    moments = [datetime.fromtimestamp(ms / 1000, UTC) for ms in TIME.tolist()]
    assert alike(Bars.from_columns({"time": moments, **PRICES}, **KNOWN))
    naive = [each.replace(tzinfo=None) for each in moments]
    with pytest.raises(BarsError, match="has no time zone"):
        Bars.from_columns({"time": naive, **PRICES})


# ---------------------------------------------------------------------------------------- pandas


@in_one_test("unit", ["s", "ms", "us", "ns"])
@in_one_test("zone", ["UTC", "America/New_York"])
def test_a_pandas_frame_with_the_times_in_its_index(unit, zone):
    index = pd.DatetimeIndex(MOMENTS).as_unit(unit).tz_localize("UTC").tz_convert(zone)
    assert alike(Bars.from_pandas(pd.DataFrame(PRICES, index=index), **KNOWN))
    named = pd.DataFrame(PRICES, index=index.rename("when"))
    assert alike(Bars.from_pandas(named, **KNOWN))
    assert alike(Bars.from_pandas(named.reset_index(names="Date"), **KNOWN))


def test_a_naive_pandas_index_needs_a_zone_unless_it_is_daily():
    frame = pd.DataFrame(PRICES, index=pd.DatetimeIndex(MOMENTS))
    with pytest.raises(BarsError, match="has no time zone"):
        Bars.from_pandas(frame)
    assert Bars.from_pandas(frame, tz="America/New_York").time[0] == FIRST + 5 * 3_600_000
    daily = pd.DataFrame(PRICES, index=pd.date_range("2024-03-04", periods=3))
    assert Bars.from_pandas(daily).timeframe == "1D"


def test_pandas_times_as_numbers_texts_or_missing():
    frame = pd.DataFrame({"timestamp": TIME, **PRICES})
    assert alike(Bars.from_pandas(frame, **KNOWN))
    texts = frame.assign(timestamp=[f"{moment}Z" for moment in MOMENTS])
    assert alike(Bars.from_pandas(texts, **KNOWN))
    holes = frame.assign(timestamp=pd.Series([MOMENTS[0], pd.NaT, MOMENTS[2]]))
    with pytest.raises(BarsError, match="row 1: timestamp is empty"):
        Bars.from_pandas(holes, tz="UTC")


def test_pandas_nullable_columns():
    frame = pd.DataFrame({"time": TIME, **PRICES}).convert_dtypes()
    assert alike(Bars.from_pandas(frame, **KNOWN))
    frame["Volume"] = pd.array([100, None, 300], dtype="Int64")
    assert np.isnan(Bars.from_pandas(frame).volume[1])


def test_a_pandas_frame_without_times_is_refused():
    with pytest.raises(BarsError, match=r"no column time .* the columns are 'Open', 'High'"):
        Bars.from_pandas(pd.DataFrame(PRICES))


# ---------------------------------------------------------------------------------------- polars


@in_one_test("unit", ["ms", "us", "ns"])
@in_one_test("zone", ["UTC", "America/New_York"])
def test_a_polars_frame(unit, zone):
    time = pl.Series(MOMENTS).cast(pl.Datetime(unit)).dt.replace_time_zone("UTC")
    frame = pl.DataFrame({"datetime": time.dt.convert_time_zone(zone), **PRICES})
    assert alike(Bars.from_polars(frame, **KNOWN))


def test_polars_times_that_are_naive_dates_numbers_or_texts():
    naive = pl.DataFrame({"time": pl.Series(MOMENTS), **PRICES})
    with pytest.raises(BarsError, match="has no time zone"):
        Bars.from_polars(naive)
    assert alike(Bars.from_polars(naive, tz="UTC", **KNOWN))
    dates = pl.DataFrame({"date": [date(2024, 3, day) for day in (4, 5, 6)], **PRICES})
    assert Bars.from_polars(dates).timeframe == "1D"
    assert alike(Bars.from_polars(pl.DataFrame({"time": TIME, **PRICES}), **KNOWN))
    texts = pl.DataFrame({"time": [f"{moment}Z" for moment in MOMENTS], **PRICES})
    assert alike(Bars.from_polars(texts, **KNOWN))


def test_polars_nulls():
    frame = pl.DataFrame({"time": TIME, **PRICES, "Volume": [100, None, 300]})
    assert np.isnan(Bars.from_polars(frame).volume[1])
    with pytest.raises(BarsError, match="row 1: close is nan"):
        Bars.from_polars(pl.DataFrame({"time": TIME, **PRICES, "Close": [11.0, None, 13]}))


# --------------------------------------------------------------------------------------- Parquet


@pytest.fixture
def parquet(tmp_path):
    def save(columns):
        path = tmp_path / "ES.parquet"
        pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
        return path

    return save


@pytest.mark.parametrize(
    "time",
    [
        pa.array(MOMENTS, pa.timestamp("ms", "UTC")),
        pa.array(MOMENTS, pa.timestamp("us", "America/New_York")),
        pa.array(TIME),
        pa.array(TIME // 1000),
        pa.array([f"{moment}Z" for moment in MOMENTS]),
        pa.array([f"{moment}Z" for moment in MOMENTS]).dictionary_encode(),
        pa.array([f"{moment}Z" for moment in MOMENTS], pa.large_string()),
    ],
)
def test_a_parquet_file(parquet, time):
    assert alike(cp.load(parquet({"time": time, **PRICES, "extra": ["a", "b", "c"]})))


def test_parquet_prices_may_be_decimals_and_narrow(parquet):
    close = pa.array([Decimal("11.00"), Decimal("12.00"), Decimal("13.00")])
    volume = pa.array([100, 200, 300], pa.int16())
    assert alike(cp.load(parquet({"time": TIME, **PRICES, "Close": close, "Volume": volume})))


def test_parquet_that_pandas_wrote_with_its_index(tmp_path):
    index = pd.DatetimeIndex(MOMENTS).tz_localize("UTC")
    for name in (None, "Datetime"):
        path = tmp_path / "ES.parquet"
        pd.DataFrame(PRICES, index=index.rename(name)).to_parquet(path)
        assert alike(cp.load(path))


def test_parquet_with_a_date_and_a_time_column(parquet):
    moments = [datetime.fromtimestamp(ms / 1000, UTC) for ms in TIME.tolist()]
    columns = {"date": [m.date() for m in moments], "time": [m.time() for m in moments]}
    assert alike(cp.load(parquet(columns | PRICES), tz="UTC"))


def test_row_numbers_that_pandas_stored_are_not_times(tmp_path):
    path = tmp_path / "ES.parquet"
    pd.DataFrame(PRICES, index=[5, 6, 7]).to_parquet(path)
    with pytest.raises(BarsError, match="no column time"):
        cp.load(path)


def test_naive_parquet_times_need_a_zone(parquet):
    path = parquet({"time": pa.array(MOMENTS), **PRICES})
    with pytest.raises(BarsError, match=r"ES.parquet: row 1: time .* has no time zone"):
        cp.load(path)
    assert alike(cp.load(path, tz="UTC"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"Close": [11.0, None, 13]}, "row 2: close is nan"),
        ({"time": pa.array([MOMENTS[0], None, MOMENTS[2]])}, "row 2: time is empty"),
        ({"time": pa.array([int(TIME[0]), None, int(TIME[2])])}, "row 2: time is nan"),
        ({"Close": [True, False, True]}, "close"),
        ({"Close": [[1.0], [2.0], [3.0]]}, "close"),
    ],
)
def test_rows_of_parquet_are_counted_from_one(parquet, changes, told):
    with pytest.raises(BarsError, match=told):
        cp.load(parquet({"time": TIME, **PRICES} | changes), tz="UTC")


def test_a_parquet_file_without_rows_or_columns(parquet):
    empty = pa.table({"time": TIME, **PRICES}).slice(0, 0)
    with pytest.raises(BarsError, match="has columns, but no bars"):
        cp.load(parquet(empty))
    with pytest.raises(BarsError, match="no column open and high"):
        cp.load(parquet({"time": TIME}))


def test_without_pyarrow_the_extra_is_named(parquet, monkeypatch):
    path = parquet({"time": TIME, **PRICES})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BarsError, match=r"chartpact\[parquet\]"):
        cp.load(path)


def test_csv_needs_none_of_these_libraries(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("time,open,high,low,close\n60,1,1,1,1\n120,1,1,1,1\n")
    code = (
        "import sys, chartpact as cp; cp.load(sys.argv[1]); cp.load('sample:es-5m');"
        "sys.exit(sum(name in sys.modules for name in ('pandas', 'polars', 'pyarrow')))"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=600)
