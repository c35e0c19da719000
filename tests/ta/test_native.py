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

from chartpact.ta.kernels import KERNELS

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

try:
    from chartpact import _native as native
except ImportError:
    if COMPILER:
        raise
    pytest.skip("no compiler here, so no C kernels", allow_module_level=True)

LENGTHS = {
    "linreg": [9, 2],
    "macd": [5, 9, 4],
    "dmi": [5, 6],
    "valuewhen": [1],
    "pivot_high": [2, 3],
}
LENGTHS["pivot_low"] = LENGTHS["pivot_high"]
FACTORS = {"alma": [0.85, 6.0], "bb": [2.0], "supertrend": [3.0], "sar": [0.02, 0.02, 0.2]}
FACTORS |= {name: [75.0] for name in KERNELS if name.startswith("percentile")}


def operands(name):
    """(type letter, is it a series?) of every input."""
    signature, types = KERNELS[name]
    shapes = signature.split("->")[0].split("),")
    return [(t, "n" in s) for t, s in zip(types.split("->")[0], shapes, strict=True)]


def arguments(name, bars=150, rows=(), na=0.0, seed=7):
    """Plausible arguments: prices around 100, positive, high above low."""
    random = np.random.default_rng(seed)
    lengths, factors = list(LENGTHS.get(name, [9])), list(FACTORS.get(name, [2.0]))
    made = []
    for place, (kind, is_series) in enumerate(operands(name)):
        if is_series and kind == "d":
            level = 100 + np.cumsum(random.standard_normal((*rows, bars)), axis=-1)
            spread = 2.0 if name in HIGH_LOW and place < 2 else 0.0
            made.append(level + (spread if place == HIGH_LOW.get(name, 0) else -spread))
        elif is_series:
            made.append(random.random((*rows, bars)) < 0.2)
        else:
            made.append({"q": lengths, "d": factors, "?": [True]}[kind].pop(0))
    for series in made:
        if na and isinstance(series, np.ndarray) and series.dtype == np.float64:
            series[random.random(series.shape) < na] = np.nan
    return made


# which operand is the high, where the one after it is the low
HIGH_LOW = {"tr": 0, "atr": 0, "dmi": 0, "supertrend": 0, "sar": 0, "accdist": 0, "wad": 0}


def results(name, *args, **keywords):
    """Always a tuple of arrays."""
    answer = getattr(native, name)(*args, **keywords)
    return answer if isinstance(answer, tuple) else (answer,)


def same_bits(a, b):
    return all(
        x.dtype == y.dtype
        and x.shape == y.shape
        and np.array_equal(x, y, equal_nan=x.dtype != bool)
        for x, y in zip(a, b, strict=True)
    )


every_kernel = pytest.mark.parametrize("name", KERNELS)


def test_the_extension_holds_exactly_the_kernels_of_the_table_with_their_signatures():
    ufuncs = {name: f for name, f in vars(native).items() if isinstance(f, np.ufunc)}
    assert {name: f.signature for name, f in ufuncs.items()} == {
        name: signature for name, (signature, _) in KERNELS.items()
    }


@every_kernel
def test_results_have_the_types_of_the_table(name):
    wanted = [{"d": np.float64, "?": np.bool_}[t] for t in KERNELS[name][1].split("->")[1]]
    assert [r.dtype for r in results(name, *arguments(name))] == wanted


def layouts(series):
    wide = np.zeros((*series.shape, 3), series.dtype)
    wide[..., 1] = series
    yield "every third value", wide[..., 1]
    yield "backwards", series[..., ::-1].copy()[..., ::-1]
    yield "column-major", np.asfortranarray(series)
    odd = np.zeros(series.nbytes + 1, np.uint8)[1:].view(series.dtype).reshape(series.shape)
    odd[...] = series
    yield "unaligned", odd
    frozen = series.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "other byte order", series.astype(series.dtype.newbyteorder())


@every_kernel
@pytest.mark.parametrize("na", [0.0, 0.1], ids=["dense", "with na"])
def test_the_memory_layout_of_each_input_does_not_matter(name, na):
    args = arguments(name, bars=70, rows=(3,), na=na)
    plain = results(name, *args)
    for place, (_, is_series) in enumerate(operands(name)):
        if is_series:
            for layout, series in layouts(args[place]):
                changed = results(name, *args[:place], series, *args[place + 1 :])
                assert same_bits(plain, changed), (place, layout)


@every_kernel
def test_a_batch_is_its_rows(name):
    args = arguments(name, bars=70, rows=(2, 3), na=0.05)
    batch = results(name, *args)
    for row in np.ndindex(2, 3):
        single = [a[row] if isinstance(a, np.ndarray) else a for a in args]
        assert same_bits(results(name, *single), [b[row] for b in batch])


@every_kernel
def test_lengths_broadcast_against_rows(name):
    kinds = operands(name)
    if ("q", False) not in kinds:
        return
    place = kinds.index(("q", False))
    args = arguments(name, bars=70)
    args[place] = np.array([2, 5, 200])
    batch = results(name, *args)
    for row, n in enumerate([2, 5, 200]):
        args[place] = n
        assert same_bits(results(name, *args), [b[row] for b in batch])


@every_kernel
def test_out_may_be_strided_and_may_be_an_input(name):
    args = arguments(name, na=0.05)
    plain = results(name, *args)
    holes = [np.zeros((len(r), 2), r.dtype) for r in plain]
    results(name, *args, out=tuple(h[:, 0] for h in holes))
    assert same_bits(plain, [h[:, 0] for h in holes])
    assert not any(h[:, 1].any() for h in holes)
    for place, (kind, is_series) in enumerate(operands(name)):
        if is_series and kind == "d" and plain[0].dtype == np.float64:
            again = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            results(name, *again, out=(again[place], *(r.copy() for r in plain[1:])))
            assert same_bits([again[place]], plain[:1]), place
            shifted = np.append(args[place], 0.0)
            again = [*args[:place], shifted[:-1], *args[place + 1 :]]
            results(name, *again, out=(shifted[1:], *(r.copy() for r in plain[1:])))
            assert same_bits([shifted[1:]], plain[:1]), place


@every_kernel
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.bool_])
def test_other_number_types_are_converted(name, dtype):
    args = [
        a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a
        for a in arguments(name)
    ]
    as_floats = [
        a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype == dtype != np.bool_ else a
        for a in args
    ]
    assert same_bits(results(name, *args), results(name, *as_floats))


@every_kernel
def test_no_bars_give_no_values(name):
    for rows in [(), (0,), (4,)]:
        for answer in results(name, *arguments(name, bars=0, rows=rows)):
            assert answer.shape == (*rows, 0)
    for answer in results(name, *arguments(name, bars=5, rows=(0,))):
        assert answer.shape == (0, 5)


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"barssince", "supertrend"}))
def test_nothing_but_na_gives_nothing(name):
    args = [
        np.full(40, np.nan) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a
        for a in arguments(name, bars=40)
    ]
    for answer in results(name, *args):
        assert not np.nan_to_num(answer).any()


@every_kernel
@pytest.mark.parametrize("length", [10**12, 2**63 - 1, 0, -1, -(2**63)])
def test_a_length_that_cannot_be_filled_allocates_nothing_and_crashes_nothing(name, length):
    args = [
        length if kind == "q" else value
        for (kind, _), value in zip(operands(name), arguments(name), strict=True)
    ]
    answers = results(name, *args)
    if length > 0 and ("q", False) in operands(name) and name != "supertrend":
        assert not any(np.nan_to_num(a).any() for a in answers)


@every_kernel
def test_odd_numbers_raise_no_floating_point_error(name):
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1.0] * 9)
    args = [
        np.roll(odd, place) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a
        for place, a in enumerate(arguments(name, bars=len(odd)))
    ]
    with np.errstate(all="raise"):
        results(name, *args)
        np.add(1.0, 1.0)


@every_kernel
def test_bars_that_follow_change_not_a_bit_of_what_stands(name):
    args = arguments(name, bars=700, na=0.01)
    whole = results(name, *args)
    for bars in [1, 2, 31, 32, 33, 34, 128, 255, 256, 257, 300, 513, 699]:
        part = [a[:bars] if isinstance(a, np.ndarray) else a for a in args]
        assert same_bits(results(name, *part), [w[:bars] for w in whole]), bars


FLAT = ["sma", "wma", "alma", "swma", "ema", "rma", "linreg", "median", "highest", "bb", "vwap"]


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("price", [0.1, 1.1, 4509.75, 1e-7, 1e9 / 3])
def test_an_average_of_flat_prices_is_the_price(name, price):
    args = arguments(name, bars=90)
    args[0] = np.full(90, price)
    if name == "vwap":  # a ratio of sums is the price to the last bit or so only
        args[2] = np.arange(90) == 0
        assert results(name, *args)[0] == pytest.approx(price, rel=1e-14)
        return
    answer = results(name, *args)[0]
    assert set(answer[~np.isnan(answer)]) == {price}


@pytest.mark.parametrize("n", [2, 5, 20, 333])
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


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_call_leaks_memory_or_references():
    cases = {name: arguments(name, bars=20_000, na=0.01) for name in KERNELS}
    strided = {
        name: [np.repeat(a, 2)[::2] if isinstance(a, np.ndarray) else a for a in args]
        for name, args in cases.items()
    }

    def call_all():
        for name, args in strided.items():
            results(name, *args)

    call_all()
    series = [a for args in strided.values() for a in args if isinstance(a, np.ndarray)]
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
        for call in (lambda: _native.vwma(x, x, 3, out=out), lambda: _native.dev(x, 3, out=out)):
            try:
                call()
            except MemoryError:
                print("MemoryError")
        print(_native.sma(x[:3], 3)[2])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == ["MemoryError", "MemoryError", "1.0"], run.stderr


def test_arguments_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="sma"):
        native.sma(np.ones(5), 2.5)
    with pytest.raises(TypeError, match="sma"):
        native.sma(np.array(["a", "b"]), 2)
    with pytest.raises(TypeError):
        native.sma(np.ones(5, complex), 2)
    with pytest.raises(ValueError, match="mismatch"):
        native.vwma(np.ones(5), np.ones(6), 2)
