"""Bad arguments are refused in words; good ones are taken in every form people have.

Each check is tested once. That every function uses the right ones is read from its signature, and
that it really does is shown by giving each argument something that no check lets pass.
"""

import inspect
import keyword
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import ta
from chartpact.checks import Unfit
from chartpact.ta import TaError, arguments, typical
from chartpact.ta.arguments import checks_of

X = np.arange(1.0, 11)
BOOLS = X > 5
TIME = np.arange(10) * 60_000

# what stands for an argument of this name
USUAL = {
    "time": TIME,
    "close_time": TIME + 60_000,
    "tz": "UTC",
    "spec": "0930-1600",
    "timeframe": "1h",
    "roll": "0000",
    "market": "fx",
    "condition": BOOLS,
    "anchor": BOOLS,
    "offset": 1,
    "sigma": 6.0,
    "type": "DM",
    "developing": False,
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
    "reset": BOOLS,
    "min_size": 0.5,
    "body": True,
    "rows": 10,  # as many as there are bars, so that the results of a profile are as long as others
    "spread": True,
    "share": 0.7,
}
LENGTHS = {"n", "fast", "slow", "signal", "short", "long", "di_n", "adx_n", "left", "right"}
LENGTHS |= {"max_age"}
SERIES = {"source", "open", "high", "low", "close", "volume", "a", "b", "condition", "anchor"}
SERIES |= {"reset", "side", "top", "bottom", "first", "last", "weight"}
SCALARS_TOO = {"abs", "neg", "sign", "sqrt", "log", "log10", "exp", "floor", "ceil", "round", "nz"}
SCALARS_TOO |= {"isna"}
ALIASES = {"pivothigh": "pivot_high", "pivotlow": "pivot_low"}
VARIADIC = ("avg", "max", "min")  # composed of checked functions of the same name

every_function = in_one_test("name", ta.FUNCTIONS)


def parameters(name: str) -> list[str]:
    return [each for each in inspect.signature(ta.FUNCTIONS[name]).parameters if each != "others"]


def usual(name: str) -> dict:
    """Arguments with which a function works."""
    values = {}
    for argument in parameters(name):
        if argument == "out":
            continue
        if argument in LENGTHS:
            values[argument] = 1 if name == "shift" else 3
        elif argument == "x" and name in SCALARS_TOO:
            values[argument] = X
        elif argument in USUAL:
            values[argument] = USUAL[argument]
        else:
            assert argument in SERIES, (name, argument)
            values[argument] = X
    return values


def call(name: str, **changed):
    return ta.FUNCTIONS[name](*(usual(name) | changed).values())


def refusal(name: str, **changed) -> TaError:
    with pytest.raises(TaError) as caught:
        call(name, **changed)
    assert caught.value.function == ALIASES.get(name, name)
    return caught.value


# --------------------------------------------------------------------------------- each check


def check_named(alias) -> arguments.Check:
    return alias.__metadata__[0]


@in_one_test("value", [-1, 0, 1.5, 14.0, "14", None, True, np.float64(3), np.nan, -(2**70)])
def test_a_length_is_a_whole_number_of_at_least_1(value):
    with pytest.raises(Unfit, match=r"^must be a whole number of at least 1$"):
        check_named(arguments.Length).convert(value)


def test_a_length_is_of_any_kind_of_integer_and_not_endless():
    for n in (np.int64(3), np.int32(3), np.uint8(3)):
        np.testing.assert_array_equal(ta.sma(X, n), ta.sma(X, 3))
    with pytest.raises(Unfit, match=f"of at most {2**31 - 1}$"):
        check_named(arguments.Length).convert(2**70)


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
        object(),
    ],
)
def test_a_series_holds_numbers(value):
    for convert in (arguments.numbers, arguments.series, arguments.condition):
        with pytest.raises(Unfit, match=r"^must hold numbers only$"):
            convert(value)


def test_a_series_has_an_axis_of_bars():
    for convert in (arguments.series, arguments.condition):
        with pytest.raises(Unfit, match=r"^must be a series, one number a bar$"):
            convert(3.0)
    assert arguments.numbers(3).dtype == float


@pytest.mark.parametrize(
    "value", ["2", np.nan, np.inf, True, [2.0], None, pytest.param(10**400, id="beyond floats")]
)
def test_a_factor_is_a_finite_number(value):
    with pytest.raises(Unfit, match=r"^must be a finite number$"):
        check_named(arguments.Factor).convert(value)


def test_a_switch_is_true_or_false():
    flag = check_named(arguments.Flag)
    assert flag.convert(np.bool_(True)) is True
    for value in (1, "yes", None):
        with pytest.raises(Unfit, match=r"^must be True or False$"):
            flag.convert(value)


# ----------------------------------------------------------------------------- every function


CHECKS = """
series: source open high low close volume a b side top bottom first last weight
numbers: a b x replacement
condition: a b condition anchor reset
_exact: x
_whole: n fast slow signal short long di_n adx_n left right offset occurrence precision max_age rows
_lengths: n left right
_number: mult factor sigma percentage start inc max offset x min_size share
_type: type
_flag: developing biased floor handle_na use_tr body spread
_out: out
_times: time
_series_of_times: time close_time
_zone: tz
_session: spec
_timeframe: timeframe
_roll: roll
_market: market
"""


def test_every_argument_of_every_function_is_checked_by_what_its_name_promises():
    table = dict(line.split(": ") for line in CHECKS.strip().splitlines())
    for name, function in ta.FUNCTIONS.items():
        if name in VARIADIC:
            continue
        checks = checks_of(function)
        assert list(checks) == parameters(name)
        for argument, check in checks.items():
            convert = getattr(check.convert, "func", check.convert)
            assert argument in table[convert.__name__].split(), (name, argument)
            if argument in LENGTHS:
                least = 0 if argument in ("left", "right") else 1
                assert check.least == {"hma": 2, "shift": 0}.get(name, least), name


@every_function
def test_an_argument_that_cannot_be_used_is_named(name):
    for argument in usual(name):
        error = refusal(name, **{argument: object()})
        assert error.argument == argument
        assert f"ta.{ALIASES.get(name, name)}: {argument} must " in str(error)


@every_function
def test_a_function_takes_what_is_usual_for_it_in_every_form(name):
    result = call(name)
    for series in result if isinstance(result, tuple) else (result,):
        assert np.shape(series) == (() if name == "in_seconds" else (10,))
    listed = {
        argument: value.tolist() if isinstance(value, np.ndarray) else value
        for argument, value in usual(name).items()
    }
    np.testing.assert_array_equal(ta.FUNCTIONS[name](*listed.values()), result)
    if name not in VARIADIC:
        np.testing.assert_array_equal(ta.FUNCTIONS[name](**listed), result)


@every_function
def test_a_wrong_number_of_arguments_is_what_python_says_it_is(name):
    function = ta.FUNCTIONS[name]
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) "):
        function()
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) .*surprise"):
        function(*usual(name).values(), surprise=1)
    if name not in VARIADIC:
        with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) takes"):
            function(*usual(name).values(), *[None] * 3)


def test_what_is_given_beside_bars_is_bound_as_python_would():
    bars = SimpleNamespace(open=X, high=X + 1, low=X - 1, close=X, volume=X)
    plain = ta.kc(X, X + 1, X - 1, X, 3, 2.0, False)
    np.testing.assert_array_equal(ta.kc(X, bars, 3, 2.0, False), plain)
    np.testing.assert_array_equal(ta.kc(X, bars, 3, mult=2.0, use_tr=False), plain)
    np.testing.assert_array_equal(ta.kc(X, bars, use_tr=False, n=3, mult=2.0), plain)
    for wrong in (
        lambda: ta.atr(bars),
        lambda: ta.atr(X, n=3),
        lambda: ta.atr(bars, 3, X.copy(), out=None),
        lambda: ta.tr(bars, True, handle_na=False),
        lambda: ta.atr(bars, 3, None, None),
    ):
        with pytest.raises(TypeError, match=r"^(a?tr)\(\) "):
            wrong()


@in_one_test(
    "name", [n for n in ta.FUNCTIONS if len(SERIES & set(usual(n))) > 1 and n not in VARIADIC]
)
def test_series_of_different_lengths_are_refused(name):
    second = [argument for argument in usual(name) if argument in SERIES][1]
    short = BOOLS[:-1] if second in ("condition", "anchor") else X[:-1]
    error = refusal(name, **{second: short})
    assert "must be as long as" in str(error)
    assert "9 values" in str(error)


def test_the_operands_of_max_and_min_are_equally_long():
    for name in ("max", "min"):
        with pytest.raises(TaError, match=f"ta.{name}: b must be as long as a") as caught:
            ta.FUNCTIONS[name](X, X, X[:-1])
        assert caught.value.function == name
        assert refusal(name, a=3.0).argument == "a"


def test_a_batch_must_fit_the_other():
    with pytest.raises(TaError, match="b must have the leading axes of a"):
        ta.correlation(np.ones((2, 5)), np.ones((3, 5)), 2)
    assert ta.correlation(np.ones((2, 5)), np.ones(5), 2).shape == (2, 5)


@in_one_test("name", [n for n in ta.FUNCTIONS if len(SERIES & set(usual(n))) > 2 or n == "vwap"])
def test_batches_must_fit_each_other_also_beside_a_single_series(name):
    first, second, third = [argument for argument in usual(name) if argument in SERIES][:3]
    given = usual(name)
    for two, three in ((second, third), (third, second), (first, third)):
        batches = {two: np.stack([given[two]] * 2), three: np.stack([given[three]] * 3)}
        assert "must have the leading axes of" in str(refusal(name, **batches))


@in_one_test(
    ("expected", "wrong"),
    [
        ("ta.hma: n must be a whole number of at least 2, not 1", lambda: ta.hma(X, 1)),
        ("ta.shift: n must be a whole number of at least 0, not -1", lambda: ta.shift(X, -1)),
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
        (
            "ta.pivot_high: left must be a whole number of at least 0, not -1",
            lambda: ta.pivot_high(X, -1, 2),
        ),
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
            "ta.timeframe_change: time must be a series, one time a bar, not 5",
            lambda: ta.timeframe_change(5, "1h"),
        ),
        (
            "ta.timeframe_change: timeframe must be a timeframe such as 5m, 4h, 1D, 1W or 1M, "
            f"not '{10**30}m'",
            lambda: ta.timeframe_change(TIME, f"{10**30}m"),
        ),
        (
            "ta.crossover: a or b must be a series, one number a bar, not 1.0",
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

    for x in (
        [1, None, 2, 4],
        (1, float("nan"), 2, 4),
        np.array([1, None, 2, 4], object),
        np.ma.array([1.0, 9, 2, 4], mask=[0, 1, 0, 0]),
        pd.Series([1, None, 2, 4]),
        pl.Series([1, None, 2, 4]),
    ):
        np.testing.assert_array_equal(ta.sma(x, 2)[3], 3.0)
        assert np.isnan(ta.sma(x, 2)[1])


ONE_RESULT = [name for name in ta.FUNCTIONS if "out" in parameters(name)]


@in_one_test("name", ONE_RESULT)
def test_out_takes_the_result_and_must_fit_it(name):
    expected = call(name)
    out = np.empty_like(expected)
    assert ta.FUNCTIONS[name](*usual(name).values(), out=out) is out
    np.testing.assert_array_equal(out, expected)
    readonly = np.empty_like(expected)
    readonly.flags.writeable = False
    for bad in (np.empty(9), np.empty(10, np.int32), [0.0] * 10, readonly):
        with pytest.raises(TaError) as caught:
            ta.FUNCTIONS[name](*usual(name).values(), out=bad)
        assert caught.value.argument == "out"


@every_function
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


@every_function
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


@every_function
def test_every_function_explains_itself_and_shows_an_example(name):
    text = inspect.getdoc(ta.FUNCTIONS[name])
    first = text.splitlines()[0]
    assert first.endswith(".") or text.split("\n\n")[0].endswith(".")
    assert f">>> {name}(" in text or f" = {name}(" in text or name in ALIASES
    assert name.isidentifier() and not name.startswith("_")


def test_a_signature_shows_plain_types():
    for name, function in ta.FUNCTIONS.items():
        for parameter in inspect.signature(function).parameters.values():
            assert not hasattr(parameter.annotation, "__metadata__"), name


def test_names_are_what_the_script_language_can_say():
    assert not [name for name in ta.FUNCTIONS if keyword.iskeyword(name)]
    assert set(ta.FUNCTIONS) <= set(ta.__all__)


def test_typical_prices_are_those_that_bars_have():
    from chartpact.prices import DERIVED

    assert set(typical.__all__) == set(DERIVED)
    columns = {"open": X, "high": X + 3, "low": X - 2, "close": X + 1}
    for name, parts in DERIVED.items():
        assert parameters(name) == list(dict.fromkeys(parts))
        mean = np.mean([columns[part] for part in parts], axis=0)
        given = [columns[part] for part in parameters(name)]
        np.testing.assert_allclose(ta.FUNCTIONS[name](*given), mean, rtol=1e-15)
