"""What C can get wrong: memory layouts, aliases, sizes, threads, leaks, and bits that wobble."""

import resource
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE
from tests.ta.market import market, typical

from chartpact.ta import reference
from chartpact.ta.kernels import KERNELS, Batched

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

try:
    from chartpact import _native as native
except ImportError:
    if COMPILER:
        raise
    pytest.skip("no compiler here, so no C kernels", allow_module_level=True)

BARS = 150


def given(name, bars=BARS, seed=7, holes="scattered apart"):
    """Plausible arguments for a kernel: columns of a market, and usual numbers."""
    return [
        v.copy() if np.ndim(v) else v for v in typical(name, market(bars, seed=seed, holes=holes))
    ]


def is_prices(value):
    return np.ndim(value) > 0 and value.dtype == np.float64


def results(name, *args, **keywords):
    """Always a tuple of arrays."""
    answer = getattr(native, name)(*args, **keywords)
    return answer if isinstance(answer, tuple) else (answer,)


def same_bits(a, b):
    return all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        for x, y in zip(a, b, strict=True)
    )


every_kernel = in_one_test("name", KERNELS)
SIGNATURES = {1: "()->()", 2: "(),()->()"}  # of ufuncs that work value by value
OF_SERIES = [name for name, (signature, _) in KERNELS.items() if "(n)" in signature]
every_kernel_of_series = in_one_test("name", OF_SERIES)


def test_the_extension_holds_exactly_the_kernels_of_the_table_with_their_signatures():
    ufuncs = {name: f for name, f in vars(native).items() if isinstance(f, np.ufunc)}
    assert {name: f.signature or SIGNATURES[f.nin] for name, f in ufuncs.items()} == {
        name: signature for name, (signature, _) in KERNELS.items()
    }


@every_kernel
def test_results_have_the_types_of_the_table(name):
    wanted = [{"d": np.float64, "?": np.bool_}[t] for t in KERNELS[name][1].split("->")[1]]
    assert [r.dtype for r in results(name, *given(name))] == wanted


@every_kernel
def test_one_operand_alone_may_lie_apart_in_memory(name):
    args = given(name)
    plain = results(name, *args)
    for place, value in enumerate(args):
        if np.ndim(value):
            apart = np.repeat(value, 3)[::3]
            backwards = value[::-1].copy()[::-1]
            for form in (apart, backwards):
                assert same_bits(plain, results(name, *args[:place], form, *args[place + 1 :]))


@every_kernel
def test_lengths_differ_from_row_to_row(name):
    args = given(name)
    lengths = [k for k, v in enumerate(args) if type(v) is int]
    for place in lengths:
        batch = results(name, *args[:place], np.array([2, 5, 200]), *args[place + 1 :])
        for row, n in enumerate([2, 5, 200]):
            single = results(name, *args[:place], n, *args[place + 1 :])
            assert same_bits(single, [b[row] for b in batch])


@every_kernel
def test_a_result_may_lie_on_or_across_any_input(name):
    args = given(name)
    plain = results(name, *args)
    rest = tuple(np.empty_like(r) for r in plain[1:])
    for place, value in enumerate(args):
        if is_prices(value) and plain[0].dtype == np.float64:
            on = value.copy()
            results(name, *args[:place], on, *args[place + 1 :], out=(on, *rest))
            assert same_bits([on], plain[:1])
            across = np.append(value, 0.0)
            results(name, *args[:place], across[:-1], *args[place + 1 :], out=(across[1:], *rest))
            assert same_bits([across[1:]], plain[:1])


OF_CONDITIONS = {"barssince", "first_true", "runs"}


@in_one_test("name", sorted({*KERNELS} - OF_CONDITIONS - {"nvi", "pvi", "supertrend"}))
def test_nothing_but_na_gives_nothing(name):
    args = [np.full(40, np.nan) if is_prices(v) else v for v in given(name, 40)]
    for answer in results(name, *args):
        assert not np.nan_to_num(answer).any()


@every_kernel
def test_a_length_that_cannot_be_filled_allocates_nothing_and_crashes_nothing(name):
    for length in (10**12, 2**63 - 1, 0, -1, -(2**63)):
        args = given(name)
        has_length = any(type(v) is int for v in args)
        answers = results(name, *(length if type(v) is int else v for v in args))
        if length > 0 and has_length and name not in ("supertrend", "zone_life"):
            assert not any(np.nan_to_num(a).any() for a in answers)


@every_kernel
def test_odd_numbers_raise_no_floating_point_error(name):
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1.0] * 9)
    args = [np.roll(odd, k) if is_prices(v) else v for k, v in enumerate(given(name, len(odd)))]
    with np.errstate(all="raise"):
        results(name, *args)


# What becomes of a zone is told where it became known: test_kernels.py has its law.
@in_one_test("name", sorted({*KERNELS} - {"zone_life"}))
def test_bars_that_follow_change_not_a_bit_of_what_stands(name):
    for odd in (None, np.inf):
        args = given(name, 1200, holes="")
        for series in filter(is_prices, args):
            series[[400, 401, 640]] = np.nan if odd is None else odd
        whole = results(name, *args)
        for bars in [1, 2, 31, 32, 33, 128, 255, 256, 257, 399, 402, 513, 639, 642, 1024, 1199]:
            part = [v[:bars] if np.ndim(v) else v for v in args]
            assert same_bits(results(name, *part), [w[:bars] for w in whole]), bars


@pytest.mark.slow
@every_kernel
def test_a_long_series_agrees_with_the_reference(name):
    lengths = (3, 17, 40) if name == "rci" else (3, 17, 40, 300, 700)  # its reference is slow
    for n in lengths if EXHAUSTIVE else lengths[::2]:
        args = [n if type(v) is int else v for v in given(name, 1500, holes="middle")]
        expected = getattr(reference, name)(*args)
        expected = expected if isinstance(expected, tuple) else (expected,)
        scale = max(np.nanmax(np.abs(v)) for v in args if np.ndim(v))
        for got, wanted in zip(results(name, *args), expected, strict=True):
            np.testing.assert_allclose(
                got, wanted, rtol=1e-11, atol=1e-12 * scale, equal_nan=True, err_msg=name
            )


WINDOWS = ["sum", "sma", "stdev", "variance", "bb", "dev", "cci", "cmo", "linreg", "percentrank"]
WINDOWS += ["highest", "lowest", "highestbars", "lowestbars", "window_range", "correlation", "vwma"]


@in_one_test("length", [1, 2, 17, 64, 127, 128, 129, 300])
@in_one_test("name", WINDOWS)
def test_a_window_agrees_with_the_reference_whatever_its_length(name, length):
    rng = np.random.default_rng(length)
    prices = np.round(100 + np.cumsum(rng.standard_normal(700)), 1)  # with ties
    volumes = rng.integers(1, 1000, 700).astype(float)
    pair = (prices, volumes) if name in ("correlation", "vwma") else (prices,)
    more = {"stdev": (True,), "variance": (True,), "bb": (2.0,), "linreg": (0,)}.get(name, ())
    for n in (length, length + 15, 700):
        given_ = (*(column[:n] for column in pair), length, *more)
        got, expected = getattr(native, name)(*given_), getattr(reference, name)(*given_)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@in_one_test("name", "sma wma alma swma ema rma linreg median highest bb".split())
@in_one_test("price", [0.1, 1.1, 4509.75, 1e-7, 1e9 / 3])
def test_an_average_of_flat_prices_is_the_price(name, price):
    args = given(name, 90)
    answer = results(name, np.full(90, price), *args[1:])[0]
    assert set(answer[~np.isnan(answer)]) == {price}


@in_one_test("n", [2, 5, 20, 333])
def test_one_outlier_leaves_no_trace_in_the_windows_after_it(n):
    random = np.random.default_rng(3)
    clean = 100 + np.cumsum(random.standard_normal(1_000_000)) / 50
    spoilt = clean.copy()
    spoilt[1000] = 1e9
    after = slice(1000 + n, None)
    for name, args in [("sma", [n]), ("stdev", [n, True]), ("wma", [n]), ("linreg", [n, 0])]:
        a, b = results(name, clean, *args)[0], results(name, spoilt, *args)[0]
        np.testing.assert_allclose(b[after], a[after], rtol=1e-12, atol=0, err_msg=name)
    windows = np.lib.stride_tricks.sliding_window_view(clean[-5000:], n)
    mean, deviation = windows.mean(axis=1), windows.std(axis=1)
    last = slice(-len(mean), None)
    np.testing.assert_allclose(results("sma", spoilt, n)[0][last], mean, rtol=1e-12)
    np.testing.assert_allclose(results("stdev", spoilt, n, True)[0][last], deviation, rtol=1e-12)


def test_the_deviation_of_small_steps_far_from_zero_is_not_lost():
    steps = np.random.default_rng(5).standard_normal(5000)
    high = results("stdev", steps + 2.0**30, 20, True)[0][19:]
    steps = (steps + 2.0**30) - 2.0**30  # what the sum could hold of them
    windows = np.lib.stride_tricks.sliding_window_view(steps, 20)
    np.testing.assert_allclose(high, windows.std(axis=1), rtol=1e-13)


def test_other_threads_run_while_a_long_series_is_computed():
    series = np.random.default_rng(1).random(1_500_000)

    def longest_pause():
        work = threading.Thread(target=native.dev, args=(series, 60))
        began = last = time.perf_counter()
        pause = 0.0
        work.start()
        while work.is_alive():
            time.sleep(0.001)
            now = time.perf_counter()
            pause, last = max(pause, now - last), now
        return pause / (last - began)

    assert min(longest_pause() for _ in range(5)) < 0.5


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_call_leaks_memory_or_references():
    strided = {
        name: [np.repeat(v, 2)[::2] if np.ndim(v) else v for v in given(name, 20_000)]
        for name in KERNELS
    }

    calls = {name: direct(name) for name in OF_SERIES}

    def call_all():
        for name, args in strided.items():
            results(name, *args)
        for name, call in calls.items():
            call(*strided[name])
            call(*strided[name][:-1], None)
            direct(name)

    call_all()
    series = [a for args in strided.values() for a in args if np.ndim(a)]
    counts = [sys.getrefcount(a) for a in series]
    before = resident_bytes()
    for _ in range(12):
        call_all()
    assert resident_bytes() - before < 12e6  # one forgotten buffer a call would be 100 MB
    assert counts == [sys.getrefcount(a) for a in series]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_want_of_memory_is_a_memory_error():
    script = """
        import resource
        import numpy as np
        from chartpact import _native
        x, out = np.ones(4_000_000), np.empty(4_000_000)
        _native.vwma(x[:9], x[:9], 3)
        pages = int(open("/proc/self/statm").read().split()[0])
        room = pages * resource.getpagesize() + 20_000_000
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        for series, n in (x[::-1], 3), (x, 3_000_000):
            try:
                _native.dev(series, n, out=out)
            except MemoryError:
                print("MemoryError")
        try:
            _native.direct_call("sma", (0, 1), (0, 9))(x, 2)
        except MemoryError:
            print("MemoryError")
        print(_native.sma(x[:3], 3)[2])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == ["MemoryError"] * 3 + ["1.0"], run.stderr


@in_one_test("name", ["add", "sub", "mul", "div", "sqrt"])
def test_arithmetic_makes_na_of_what_becomes_infinite(name):
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, -3.0, 1.0, 7.5])
    a, b = (np.ravel(grid) for grid in np.meshgrid(odd, odd))
    apart = np.repeat(a, 2)[::2]
    forms = [(a, b), (apart, b), (a, b[::-1]), (a, 0.0), (3, b), (a.reshape(11, 11).T, odd)]
    for form in forms if name != "sqrt" else [(a,), (apart,), (a.reshape(11, 11).T,), (-4.0,)]:
        expected = Batched(name)(*form)
        with np.errstate(all="raise"):
            got = getattr(native, name)(*form)
        np.testing.assert_array_equal(got, expected)


def direct(name):
    """The direct call of a kernel whose numbers may be what they like."""
    inputs = len(KERNELS[name][1].split("->")[0])
    return native.direct_call(name, (-1e300,) * inputs, (1e300,) * inputs)


@every_kernel_of_series
def test_a_direct_call_computes_what_the_ufunc_does(name):
    call, args = direct(name), given(name)
    batch = [np.stack([v, v[::-1], v]) if np.ndim(v) else v for v in args]
    cube = [v.reshape(3, 1, BARS) if np.ndim(v) else v for v in batch]
    apart = [np.repeat(v, 3)[::3] if np.ndim(v) else v for v in args]
    empty = [v[:0] if np.ndim(v) else v for v in args]
    for form in (args, batch, cube, apart, empty):
        answer = call(*form)
        answer = answer if isinstance(answer, tuple) else (answer,)
        assert same_bits(answer, results(name, *form))


@every_kernel_of_series
def test_a_direct_call_answers_none_unless_every_argument_is_ready(name):
    call, args = direct(name), given(name)
    series = [k for k, v in enumerate(args) if np.ndim(v)]

    def answer(place, value):
        return call(*args[:place], value, *args[place + 1 :])

    for k in series:
        value = args[k]
        unaligned = np.frombuffer(b" " + value.tobytes(), value.dtype, len(value), 1)
        others = [value.tolist(), value.astype(np.float32), value.astype(object), value[:, None].T]
        others += [value.view(np.recarray), np.ma.masked_array(value), None, 1.0, value[0]]
        others += [value.reshape(3, 50).T] if len(series) == 1 else [value[:-1]]
        others += [] if value.dtype == bool else [unaligned, value.astype(">f8")]
        if len(series) == 1:  # one series alone may have any number of axes
            others = [form for form in others if np.shape(form) != (1, BARS)]
        assert [type(form) for form in others if answer(k, form) is not None] == []
    for k in set(range(len(args))) - set(series):
        others = [None, "3", np.int64(3), np.array(3), 10**30, np.nan, np.inf, [3]]
        others += [1, 0.0] if type(args[k]) is bool else [True]
        others += [3.0] if type(args[k]) is int and KERNELS[name][1][k] == "q" else []
        assert [form for form in others if answer(k, form) is not None] == []
    assert call(*args[:-1]) is call(*args, 1) is None


def test_a_direct_call_keeps_numbers_within_their_bounds():
    call = native.direct_call("alma", (0, 1, 0.5, 0), (0, 9, 1.5, 1))
    x = np.arange(20.0)
    assert call(x, 9, 1.5, 1) is not None  # an int stands for a float
    for n, offset in ((0, 1.0), (10, 1.0), (2**31, 1.0), (9, 0.4), (9, 1.6), (9, 2), (9, np.nan)):
        assert call(x, n, offset, 1.0) is None


def test_there_are_direct_calls_of_kernels_only():
    with pytest.raises(ValueError, match="no kernel sma with 3 inputs"):
        native.direct_call("sma", (0, 0, 0), (1, 1, 1))
    with pytest.raises(ValueError, match="no kernel smaller"):
        native.direct_call("smaller", (0, 0), (1, 1))


def test_arguments_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="sma"):
        native.sma(np.ones(5), np.array(2.5))
    with pytest.raises(TypeError, match="sma"):
        native.sma(np.array(["a", "b"]), 2)
    with pytest.raises(TypeError):
        native.sma(np.ones(5, complex), 2)
    with pytest.raises(ValueError, match="mismatch"):
        native.vwma(np.ones(5), np.ones(6), 2)


def test_every_kernel_is_benchmarked():
    benchmark = (Path(__file__).parents[2] / "bench" / "ta.py").read_text()
    measured = {line.split("|")[0].strip() for line in benchmark.splitlines() if "| ta." in line}
    other_names = {"max": "cummax", "min": "cummin", "range": "window_range"}
    other_names["pivot_point_levels"] = "period_prices"
    assert set(KERNELS) <= {other_names.get(name, name) for name in measured}


def test_slices_of_operands_that_do_not_fit_are_refused():
    x, first = np.ones(5), np.zeros(5, np.int64)
    n = np.full(5, 2)
    (sums,) = native.last_values("sum", first, x, n)
    np.testing.assert_array_equal(sums, [np.nan, 2, 2, 2, 2])
    for wrong in (
        ("sum", first, x),
        ("nothing", first, x, n),
        ("sum", first, x[:4], n),
        ("sum", first, x, n[:4]),
        ("sum", first, x.astype(np.float32), n),
        ("sum", first, x, n.astype(float)),
        ("sum", first - 1, x, n),
        ("sum", first + 1, x, n),
        ("sum", first.astype(float), x, n),
        ("sum", first, np.ones(10)[::2], n),
        ("sum", first, list(x), n),
        ("sum", 0, x, n),
    ):
        with pytest.raises(ValueError, match=r"kernel|operands"):
            native.last_values(*wrong)
    with pytest.raises(TypeError):
        native.last_values(1, first, x, n)
    with pytest.raises(ValueError, match="kernel"):
        native.last_values()
    assert native.last_values("sum", first[:0], x[:0], n[:0])[0].shape == (0,)


def test_the_memory_of_a_large_result_serves_the_next_one():
    series = np.arange(600_000.0)
    call = native.direct_call("cum", (-1.0,), (1.0,))
    first, second = call(series), call(series)
    assert not np.shares_memory(first, second)
    place = second.ctypes.data
    del second
    again = call(series)
    assert again.ctypes.data == place
    assert np.array_equal(again, first)


def test_a_large_result_can_be_resized_and_outlives_others():
    series = np.arange(600_000.0)
    call = native.direct_call("cum", (-1.0,), (1.0,))
    result = call(series)
    expected = result[:10].copy()
    result.resize(2_000_000, refcheck=False)
    assert np.array_equal(result[:10], expected)
    assert not result[600_000:].any()
    many = [call(series) for _ in range(20)]  # more than is kept
    del many
    assert np.array_equal(call(series)[:10], expected)
    assert np.array_equal(result[:10], expected)
