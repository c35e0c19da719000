"""Bad arguments are refused in words; good ones are taken in every form people have."""

import inspect
import pickle

import numpy as np
import pytest

from chartpact import ta
from chartpact.ta import TaError

X = np.arange(1.0, 11)
BOOLS = X > 5
TIME = np.arange(10) * 60_000

# what stands for an argument of this name
USUAL = {
    "time": TIME,
    "tz": "UTC",
    "spec": "0930-1600",
    "timeframe": "1h",
    "roll": "0000",
    "condition": BOOLS,
    "anchor": BOOLS,
    "offset": 1,
    "sigma": 6.0,
    "floor": False,
    "mult": 2.0,
    "factor": 3.0,
    "x": 2.0,
    "percentage": 50,
    "occurrence": 1,
    "biased": True,
    "handle_na": True,
    "use_tr": True,
    "start": 0.02,
    "inc": 0.02,
    "max": 0.2,
    "replacement": 0.0,
    "precision": 2,
}
LENGTHS = {"n", "fast", "slow", "signal", "short", "long", "di_n", "adx_n", "left", "right"}
SERIES = {"source", "open", "high", "low", "close", "volume", "a", "b", "condition", "anchor"}
SCALARS_TOO = {"abs", "neg", "sign", "sqrt", "log", "log10", "exp", "floor", "ceil", "round", "nz"}
SCALARS_TOO |= {"isna"}


def usual(name: str) -> dict:
    """Arguments with which a function works."""
    values = {}
    for argument, parameter in inspect.signature(ta.FUNCTIONS[name]).parameters.items():
        if argument in ("out", "others"):
            continue
        if argument in LENGTHS:
            values[argument] = 1 if name == "shift" else 3
        elif argument == "x" and name in SCALARS_TOO:
            values[argument] = X
        elif argument in USUAL:
            values[argument] = USUAL[argument]
        else:
            assert argument in SERIES, (name, argument, parameter)
            values[argument] = X
    return values


def call(name: str, **changed):
    function = ta.FUNCTIONS[name]
    return function(*(usual(name) | changed).values())


def with_argument(names):
    return [
        (name, argument)
        for name in ta.FUNCTIONS
        for argument in inspect.signature(ta.FUNCTIONS[name]).parameters
        if argument in names
    ]


@pytest.mark.parametrize("name", ta.FUNCTIONS)
def test_a_function_takes_what_is_usual_for_it(name):
    result = call(name)
    for series in result if isinstance(result, tuple) else (result,):
        assert series.shape == (10,)


@pytest.mark.parametrize(("name", "argument"), with_argument(LENGTHS))
@pytest.mark.parametrize(
    "value", [-1, 1.5, 14.0, "14", None, True, np.float64(3), 2**70, np.nan, [3]]
)
def test_a_length_must_be_a_whole_number_of_at_least_1(name, argument, value):
    with pytest.raises(TaError) as caught:
        call(name, **{argument: value})
    error = caught.value
    assert (error.function, error.argument) == (
        name.replace("pivothigh", "pivot_high").replace("pivotlow", "pivot_low"),
        argument,
    )
    assert f": {argument} must be a whole number" in str(error)
    assert repr(value)[:10] in str(error)


@pytest.mark.parametrize(("name", "argument"), with_argument(LENGTHS))
def test_a_length_of_zero_is_refused(name, argument):
    if name != "shift":
        with pytest.raises(
            TaError, match=f"{argument} must be a whole number of at least [12], not 0"
        ):
            call(name, **{argument: 0})


@pytest.mark.parametrize("n", [np.int64(3), np.int32(3), np.uint8(3)])
def test_a_length_may_be_any_kind_of_integer(n):
    np.testing.assert_array_equal(ta.sma(X, n), ta.sma(X, 3))


@pytest.mark.parametrize(("name", "argument"), with_argument(SERIES | {"x"}))
@pytest.mark.parametrize(
    "value",
    [
        ["a"],
        "close",
        [1j],
        np.array(["2020-01-01"], "M8[D]"),
        {},
        pytest.param([10**400], id="beyond floats"),
        [[1], [2, 3]],
    ],
)
def test_a_series_must_hold_numbers(name, argument, value):
    with pytest.raises(TaError) as caught:
        call(name, **{argument: value})
    assert caught.value.argument == argument


@pytest.mark.parametrize(("name", "argument"), with_argument({"source", "high", "volume"}))
def test_a_series_must_have_an_axis_of_bars(name, argument):
    with pytest.raises(TaError, match=f"{argument} must be a series, one number a bar, not 3.0"):
        call(name, **{argument: 3.0})


@pytest.mark.parametrize(
    "name", [n for n in ta.FUNCTIONS if len(SERIES & set(usual(n))) > 1 and n not in ("max", "min")]
)
def test_series_of_different_lengths_are_refused(name):
    second = [argument for argument in usual(name) if argument in SERIES][1]
    with pytest.raises(TaError) as caught:
        call(name, **{second: X[:-1] if second not in ("condition", "anchor") else BOOLS[:-1]})
    assert caught.value.function == name
    assert "must be as long as" in str(caught.value)
    assert "9 values" in str(caught.value)


def test_a_batch_must_fit_the_other():
    with pytest.raises(TaError, match="b must have the leading axes of a"):
        ta.correlation(np.ones((2, 5)), np.ones((3, 5)), 2)
    assert ta.correlation(np.ones((2, 5)), np.ones(5), 2).shape == (2, 5)


@pytest.mark.parametrize(
    "name", [n for n in ta.FUNCTIONS if len(SERIES & set(usual(n))) > 2 or n == "vwap"]
)
def test_batches_must_fit_each_other_also_beside_a_single_series(name):
    first, second, third = [argument for argument in usual(name) if argument in SERIES][:3]
    given = usual(name)
    for order in ((second, third), (third, second), (first, third)):
        two, three = order
        batches = {two: np.stack([given[two]] * 2), three: np.stack([given[three]] * 3)}
        with pytest.raises(TaError, match="must have the leading axes of") as caught:
            call(name, **batches)
        assert caught.value.function == name


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        (name, argument)
        for name, argument in with_argument(
            {"mult", "factor", "sigma", "percentage", "start", "inc", "max", "x"}
        )
        if not (argument == "x" and name in SCALARS_TOO)
    ],
)
@pytest.mark.parametrize(
    "value", ["2", np.nan, np.inf, True, [2.0], pytest.param(10**400, id="beyond floats")]
)
def test_a_factor_must_be_a_finite_number(name, argument, value):
    with pytest.raises(TaError, match=f"ta.{name}: {argument} must be a finite number"):
        call(name, **{argument: value})


@pytest.mark.parametrize(("name", "argument"), with_argument({"biased", "handle_na", "use_tr"}))
def test_a_switch_must_be_true_or_false(name, argument):
    with pytest.raises(TaError, match=f"{argument} must be True or False, not 1"):
        call(name, **{argument: 1})


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ("ta.hma: n must be a whole number of at least 2, not 1", lambda: ta.hma(X, 1)),
        ("ta.alma: sigma must be above 0, not 0", lambda: ta.alma(X, 3, 0.5, 0)),
        (
            "ta.percentile_nearest_rank: percentage must lie between 0 and 100, not 101",
            lambda: ta.percentile_nearest_rank(X, 3, 101),
        ),
        (
            "ta.valuewhen: occurrence must be a whole number of at least 0, not -1",
            lambda: ta.valuewhen(BOOLS, X, -1),
        ),
        ("ta.linreg: offset must be a whole number, not 0.5", lambda: ta.linreg(X, 3, 0.5)),
        ("ta.sar: inc must not be negative, not -1", lambda: ta.sar(X, X, X, 0.02, -1, 0.2)),
        (
            "ta.atr: low must be as long as high (10 values), not a series of 9 values (float64)",
            lambda: ta.atr(X, X[1:], X, 3),
        ),
        (
            "ta.sma: n must be a whole number of at most 2147483647, not 2147483648",
            lambda: ta.sma(X, 2**31),
        ),
        (
            "ta.round: precision must be a whole number of at most 300, not 301",
            lambda: ta.round(X, 301),
        ),
        (
            "ta.hour: time must hold UTC milliseconds, not [[1], [2, 3]]",
            lambda: ta.hour([[1], [2, 3]]),
        ),
        ("ta.hour: time must hold UTC milliseconds, not [inf]", lambda: ta.hour([np.inf])),
        (
            "ta.timeframe_change: timeframe must be a timeframe such as 5m, 4h, 1D, 1W or 1M, "
            f"not '{10**30}m'",
            lambda: ta.timeframe_change(TIME, f"{10**30}m"),
        ),
        (
            "ta.crossover: a or b must be a series, one number a bar, not 1",
            lambda: ta.crossover(1, 2),
        ),
    ],
)
def test_a_refusal_says_which_function_argument_and_value(expected, wrong):
    with pytest.raises(TaError) as caught:
        wrong()
    assert str(caught.value) == expected


def test_bars_are_not_a_source():
    import chartpact as cp

    with pytest.raises(TaError, match=r"ta.ema: source must be one series, such as bars.close"):
        ta.ema(cp.load("sample:es-5m"), 10)


def test_an_error_is_a_value_error_and_survives_pickling():
    with pytest.raises(ValueError) as caught:
        ta.sma(X, 0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (
        str(again) == str(caught.value) == "ta.sma: n must be a whole number of at least 1, not 0"
    )


def test_lists_none_masks_and_frames_are_series():
    import pandas as pd
    import polars as pl

    wanted = [np.nan, np.nan, np.nan, 3.0]
    for x in (
        [1, None, 2, 4],
        (1, float("nan"), 2, 4),
        np.array([1, None, 2, 4], object),
        np.ma.array([1.0, 9, 2, 4], mask=[0, 1, 0, 0]),
        pd.Series([1, None, 2, 4]),
        pl.Series([1, None, 2, 4]),
    ):
        np.testing.assert_array_equal(ta.sma(x, 2)[3], wanted[3])
        assert np.isnan(ta.sma(x, 2)[1])


ONE_RESULT = [n for n in ta.FUNCTIONS if "out" in inspect.signature(ta.FUNCTIONS[n]).parameters]


@pytest.mark.parametrize("name", ONE_RESULT)
def test_out_takes_the_result(name):
    expected = call(name)
    out = np.empty_like(expected)
    assert ta.FUNCTIONS[name](*usual(name).values(), out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", ONE_RESULT)
def test_out_must_fit_the_result(name):
    other = np.int32
    readonly = np.empty_like(call(name))
    readonly.flags.writeable = False
    for out in (np.empty(9), np.empty(10, other), [0.0] * 10, readonly):
        with pytest.raises(TaError) as caught:
            ta.FUNCTIONS[name](*usual(name).values(), out=out)
        assert caught.value.argument == "out"


@pytest.mark.parametrize("name", ta.FUNCTIONS)
def test_a_batch_is_its_rows(name):
    single = call(name)
    batch = {
        argument: np.stack([value, value]) if isinstance(value, np.ndarray) else value
        for argument, value in usual(name).items()
    }
    result = ta.FUNCTIONS[name](*batch.values())
    both = zip(
        np.atleast_2d(single), result if isinstance(result, tuple) else (result,), strict=True
    )
    for one, two in both:
        np.testing.assert_array_equal(two, np.stack([one, one]))


@pytest.mark.parametrize("name", ta.FUNCTIONS)
def test_no_function_changes_its_arguments_or_warns(name):
    arguments = {
        argument: value.copy() if isinstance(value, np.ndarray) else value
        for argument, value in usual(name).items()
    }
    for value in arguments.values():
        if isinstance(value, np.ndarray) and value.dtype == float:
            value[[0, 4, 7, 8, 9]] = np.nan, 0, np.finfo(float).max, -np.inf, -3
    before = pickle.dumps(arguments)
    with np.errstate(all="raise"):
        ta.FUNCTIONS[name](*arguments.values())
    assert pickle.dumps(arguments) == before


@pytest.mark.parametrize("name", ta.FUNCTIONS)
def test_every_function_explains_itself_and_shows_an_example(name):
    text = inspect.getdoc(ta.FUNCTIONS[name])
    first = text.splitlines()[0]
    assert first.endswith(".") or text.split("\n\n")[0].endswith(".")
    assert f">>> {name}(" in text or f" = {name}(" in text or name in ("pivothigh", "pivotlow")
    assert name.isidentifier() and not name.startswith("_")


def test_names_are_what_the_script_language_can_say():
    import keyword

    assert not [name for name in ta.FUNCTIONS if keyword.iskeyword(name)]
    assert set(ta.FUNCTIONS) <= set(ta.__all__)
