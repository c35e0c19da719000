"""Bars from a function of the operator's, through every door that takes sources."""

import sys
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.sources.standin import DAY, HOUR, NOW, row

import chartpact as cp
from chartpact.bars import COLUMNS, Bars, BarsError
from chartpact.sources import SourceFailed, UnknownSymbol, configuration, plugin
from chartpact.sources.configuration import of_local_user, parse_sources

SOURCE = "desk=python:acme_bars:load?history=50&cache=0"


def columns(start: datetime, end: datetime, step: int) -> dict:
    first = -(-int(start.timestamp() * 1000) // step) * step
    times = range(first, int(end.timestamp() * 1000) + 1, step)
    return dict(zip(COLUMNS, zip(*map(row, times), strict=True), strict=True))


@pytest.fixture
def acme(monkeypatch):
    """A module whose function `load` a test may replace, and what it was asked."""
    module = ModuleType("acme_bars")
    module.asked = []

    def load(symbol, timeframe, start, end):
        module.asked.append((symbol, timeframe, start, end))
        return columns(start, end, {"1h": HOUR, "1D": DAY}[timeframe])

    module.load = load
    monkeypatch.setitem(sys.modules, "acme_bars", module)
    monkeypatch.setattr("time.time_ns", lambda: NOW * 1_000_000)
    monkeypatch.setenv("CHARTPACT_SOURCES", SOURCE)
    configuration._directories.clear()
    yield module
    configuration._directories.clear()


def test_a_function_is_asked_with_times_in_utc_and_its_completed_bars_are_delivered(acme):
    bars = cp.load("ACME@desk", timeframe="1h")
    running = NOW // HOUR * HOUR
    assert bars.time.tolist() == list(range(running - 50 * HOUR, running, HOUR))
    assert list(bars[-1]) == row(running - HOUR)
    assert (bars.symbol, bars.source, bars.fetched) == ("ACME", "desk", NOW)
    [(symbol, timeframe, start, end)] = acme.asked
    assert (symbol, timeframe, start.tzinfo, end.tzinfo) == ("ACME", "1h", UTC, UTC)
    assert end.timestamp() * 1000 == NOW
    assert start.timestamp() * 1000 <= running - 50 * HOUR


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy", "bars"])
def test_a_frame_of_any_library_will_do(acme, library):
    def load(symbol, _timeframe, start, end):
        data = columns(start, end, HOUR)
        if library == "pandas":
            frame = pd.DataFrame(data).set_index(pd.to_datetime(data["time"], unit="ms", utc=True))
            return frame.drop(columns="time")
        if library == "polars":
            return pl.DataFrame(data)
        if library == "bars":
            return Bars(*data.values(), symbol, "1h", market="listed", tick_size=0.5)
        kinds = [(name, "i8" if name == "time" else "f8") for name in COLUMNS]
        return np.array(list(zip(*data.values(), strict=True)), dtype=kinds)

    acme.load = load
    bars = cp.load("ACME@desk", timeframe="1h")
    assert len(bars) == 50
    assert list(bars[-1]) == row(NOW // HOUR * HOUR - HOUR)
    assert library != "bars" or bars.market == "listed"  # as Bars say


def test_the_timeframes_that_are_named_are_the_only_ones_it_is_asked_for(acme, monkeypatch):
    monkeypatch.setenv("CHARTPACT_SOURCES", f"{SOURCE}&timeframes=1h,1D")
    assert cp.load("ACME@desk", timeframe="4h").timeframe == "4h"
    assert [timeframe for _, timeframe, *_ in acme.asked] == ["1h"]
    with pytest.raises(BarsError, match="desk has no 5m bars; it has 1h 1D"):
        cp.load("ACME@desk", timeframe="5m")


def spoil(change):
    def load(_symbol, _timeframe, start, end):
        data = {name: list(values) for name, values in columns(start, end, HOUR).items()}
        return change(data)

    return load


def with_(name, number, value):
    def change(data):
        data[name][number] = value
        return data

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: {name: values[::-1] for name, values in data.items()}, "cannot be"),
        (lambda data: {name: values * 2 for name, values in data.items()}, "cannot be"),
        (lambda data: {name: values[::2] for name, values in data.items()}, None),
        (with_("high", 3, 1), "high 1.0 is below"),
        (with_("close", 3, float("nan")), "cannot be"),
        (with_("volume", 3, -1), "volume is -1.0"),
        (with_("time", -1, NOW + DAY), "yet to come"),
        (with_("time", 3, "2024-03-04 09:00"), "desk"),
        (lambda data: {**data, "symbol": ["OTHER"] * len(data["time"])}, "answered 'OTHER'"),
        (lambda data: {name: values[:0] for name, values in data.items()}, "there are no bars"),
        (lambda _: None, "answered with NoneType, and no frame"),
        (lambda _: 7, "answered with int, and no frame"),
        (lambda data: {"time": data["time"]}, "no column open"),
        (lambda data: Bars(*data.values(), "OTHER", "1h"), "was asked for 1h bars of ACME"),
        (lambda data: Bars(*data.values(), "ACME", "1D"), "was asked for 1h bars of ACME"),
    ],
)
def test_nothing_in_its_rows_is_mended(acme, change, told):
    acme.load = spoil(change)
    if told is None:  # hours without a trade are left out by many services
        assert len(cp.load("ACME@desk", timeframe="1h")) == 50
        return
    with pytest.raises(SourceFailed) as caught:
        cp.load("ACME@desk", timeframe="1h")
    assert told in str(caught.value)
    assert str(caught.value).startswith("desk ")


def test_bars_of_a_shorter_timeframe_are_not_taken_for_those_asked_for(acme):
    acme.load = lambda _symbol, _timeframe, start, end: columns(start, end, HOUR)
    with pytest.raises(SourceFailed, match="other bars than the 4h asked for"):
        cp.load("ACME@desk", timeframe="4h")


def test_what_it_raises_becomes_an_error_in_words(acme):
    def load(error):
        def raising(*_):
            raise error

        return raising

    acme.load = load(KeyError("ACME"))
    with pytest.raises(UnknownSymbol, match="desk has no 'ACME'"):
        cp.load("ACME@desk")
    for error in (ValueError("no\nsuch key"), RuntimeError(""), SystemError("x")):
        configuration._directories.clear()
        acme.load = load(error)
        with pytest.raises(SourceFailed, match=rf"desk: {type(error).__name__}") as caught:
            cp.load("ACME@desk", timeframe="1D")
        assert "\n" not in str(caught.value)


def test_a_function_that_is_not_there_is_named(acme):
    del acme.load
    with pytest.raises(SourceFailed, match="acme_bars:load cannot be used: AttributeError"):
        cp.load("ACME@desk")
    acme.load = 7
    configuration._directories.clear()
    with pytest.raises(SourceFailed, match="acme_bars:load is no function"):
        cp.load("ACME@desk")


@pytest.fixture
def offered(acme, monkeypatch):
    """An installed package that offers the function as the source `acme`."""
    entry = EntryPoint("acme", "acme_bars:load", plugin.GROUP)
    monkeypatch.setattr(plugin, "entry_points", lambda group: [entry] * (group == plugin.GROUP))
    return acme


@pytest.mark.usefixtures("offered")
def test_whoever_is_alone_has_the_sources_of_installed_packages(monkeypatch):
    monkeypatch.delenv("CHARTPACT_SOURCES")
    assert [config.name for config in of_local_user()] == ["binance", "yahoo", "acme"]
    assert len(cp.load("ACME@acme")) == 1000


@pytest.mark.usefixtures("offered")
def test_an_operator_names_the_source_of_an_installed_package():
    [config] = parse_sources("theirs=acme?history=20")
    assert (config.kind, config.what) == ("python", "acme_bars:load")
    assert len(config.open().load("ACME", "1h")) == 20
    with pytest.raises(configuration.Misconfigured, match=r"no kind 'acne'.*near: acme"):
        parse_sources("theirs=acne")


def test_a_name_of_a_module_is_no_symbol_and_no_source(acme):
    for name in ("ACME@acme_bars:load", "ACME@python:acme_bars:load"):
        with pytest.raises(BarsError):
            cp.load(name)
    assert acme.asked == []
