"""Every kernel computes what the reference says, in whatever form its series come."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.ta.market import HOLES, OUTLIER, arguments, market, markets, typical

from chartpact.ta import reference
from chartpact.ta.kernels import BACKEND, KERNELS, kernel

ROOT = Path(__file__).parents[2]
every_kernel = in_one_test("name", KERNELS)
TELLS_LATER = ["zone_life"]  # its results stand on the bar where a zone became known
FLOATS = [name for name, (_, types) in KERNELS.items() if types.startswith("d")]


def columns(result) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


def so_far(inputs: list[np.ndarray], expected: np.ndarray) -> np.ndarray:
    """On each bar the largest magnitude seen yet, of the inputs and of the result."""
    seen = np.ones(expected.shape[-1])
    for column in [*inputs, expected]:
        seen = np.maximum(seen, np.nan_to_num(np.abs(column), posinf=0))
    return np.maximum.accumulate(seen)


def assert_same(name, got, expected, inputs):
    # cci divides by a deviation that may be a thousandth of the price
    tolerance = 1e-10 if name == "cci" else 1e-12
    inputs = [value for value in inputs if np.ndim(value) and value.dtype == float]
    for each, wanted in zip(columns(got), columns(expected), strict=True):
        assert each.shape == wanted.shape
        assert each.dtype == wanted.dtype
        if wanted.dtype == bool:
            assert each.tolist() == wanted.tolist(), name
            continue
        assert np.isnan(each).tolist() == np.isnan(wanted).tolist(), (name, each, wanted)
        assert each[np.isinf(wanted)].tolist() == wanted[np.isinf(wanted)].tolist()
        known = np.isfinite(wanted)
        error = np.abs(each[known] - wanted[known]) / so_far(inputs, wanted)[known]
        assert error.max(initial=0) <= tolerance, (name, each, wanted)


@pytest.mark.parametrize("name", KERNELS)
@given(data=markets, draw=st.data())
def test_a_kernel_agrees_with_the_reference(name, data, draw):
    given_ = arguments(name, data, draw.draw)
    with np.errstate(all="ignore"):
        expected = getattr(reference, name)(*given_)
    with np.errstate(all="raise"):
        assert_same(name, kernel(name)(*given_), expected, given_)


HUGE = np.array([1, -1, 1e150, 1.1e154, 3e155, -2e155, 1e300, 1e308, -1e308, 1.7e308, -1.7e308])


@every_kernel
@pytest.mark.parametrize("compute", ["kernel", "reference"])
def test_finite_numbers_never_give_an_infinite_one(name, compute):
    function = kernel(name) if compute == "kernel" else getattr(reference, name)
    rng = np.random.default_rng(11)
    for kind in (HUGE, HUGE[2:6], HUGE[-4:]):
        data = typical(name, market(60, seed=3))
        huge = [rng.choice(kind, len(v)) if np.ndim(v) and v.dtype == float else v for v in data]
        with np.errstate(all="ignore"):
            for result in columns(function(*huge)):
                assert not np.isinf(np.asarray(result, float)).any()


@pytest.mark.parametrize("size", [1e150, 1e155, 1.7e308])
def test_a_deviation_beyond_the_range_of_a_float_is_na_in_c_and_reference(size):
    x = np.array([1.0, 2, 3, size, -size, 5, 6, 7])
    for name in ("stdev", "variance"):
        given_ = x, 3, True
        got, expected = kernel(name)(*given_), getattr(reference, name)(*given_)
        assert np.isnan(got).tolist() == np.isnan(expected).tolist()
        assert np.isnan(got).tolist() == [1, 1, 0] + [size > 1e150] * 4 + [0]


@every_kernel
def test_a_batch_is_its_rows_one_by_one(name):
    for holes in HOLES:
        rows = [market(40, seed=seed, holes=holes) for seed in range(9)]
        each = [typical(name, row) for row in rows]
        batch = [np.stack(c) if np.ndim(c[0]) else c[0] for c in zip(*each, strict=True)]
        got = columns(kernel(name)(*batch))
        for k, row in enumerate(each):
            expected = kernel(name)(*row)
            assert_same(name, tuple(g[k] for g in got), tuple(columns(expected)), row)


SHARED_OUT = """
import numpy as np
from tests.ta.market import market, typical
from chartpact.ta.kernels import KERNELS, kernel

rows = [market(64, seed=seed, holes="scattered" if seed % 3 else "") for seed in range(16)]
for name in KERNELS:
    each = [typical(name, row) for row in rows]
    few = [np.stack(c) if np.ndim(c[0]) else c[0] for c in zip(*each, strict=True)]
    many = [np.tile(c, (769, 1))[:-1] if np.ndim(c) else c for c in few]
    for wanted, got in zip(map(np.array, [kernel(name)(*few)]), [kernel(name)(*many)]):
        got = np.array(got).reshape(-1, 12303, 64)
        wanted = np.tile(wanted.reshape(-1, 16, 64), (1, 769, 1))[:, :-1]
        assert np.array_equal(got, wanted, equal_nan=True), name
"""


@pytest.mark.skipif(BACKEND != "c", reason="the reference takes no threads")
def test_rows_that_threads_share_out_are_computed_as_by_one():
    environment = os.environ | {"CHARTPACT_THREADS": "3"}
    subprocess.run([sys.executable, "-c", SHARED_OUT], env=environment, cwd=ROOT, check=True)


@every_kernel
def test_one_series_is_spread_over_a_batch_of_others(name):
    data = market(30, seed=3, holes="scattered")
    single = typical(name, data)
    first = np.stack([single[0]] * 3).reshape(3, 1, 30)
    expected = columns(getattr(reference, name)(*single))
    for got, wanted in zip(columns(kernel(name)(first, *single[1:])), expected, strict=True):
        assert got.shape == (3, 1, 30)
        assert_same(name, got[2, 0], wanted, single)


def strided(column):
    spread = np.full(2 * len(column), -1, column.dtype)
    spread[::2] = column
    return spread[::2]


def reversed_(column):
    return column[::-1].copy()[::-1]


def down_a_table(column):
    return np.stack([column, column])[:, :].T.copy()[:, 1]


def read_only(column):
    copy = column.copy()
    copy.flags.writeable = False
    return copy


def unaligned(column):
    raw = np.zeros(column.nbytes + 1, np.uint8)
    view = raw[1:].view(column.dtype) if column.dtype == bool else raw[1:].view(np.uint8)
    view = view if column.dtype == bool else np.frombuffer(raw, column.dtype, len(column), 1)
    view[:] = column
    return view


def swapped_bytes(column):
    return column.astype(column.dtype.newbyteorder())


FORMS = [strided, reversed_, down_a_table, read_only, unaligned, swapped_bytes]


@every_kernel
def test_the_form_of_a_series_in_memory_does_not_matter(name):
    for form in FORMS:
        given_ = typical(name, market(33, seed=5, holes="middle"))
        formed = [form(v) if np.ndim(v) else v for v in given_]
        assert_same(name, kernel(name)(*formed), getattr(reference, name)(*given_), given_)


@in_one_test("name", FLOATS)
def test_numbers_of_another_type_are_taken_as_floats(name):
    for dtype in (np.int64, np.int32, np.float32, np.bool_):
        data = market(33, "steps", seed=5)
        floats = [
            v.astype(dtype).astype(float) if np.ndim(v) and v.dtype == float else v
            for v in typical(name, data)
        ]
        given_ = [v.astype(dtype) if np.ndim(v) and v.dtype == float else v for v in floats]
        assert_same(name, kernel(name)(*given_), getattr(reference, name)(*floats), floats)


@every_kernel
def test_nothing_in_gives_nothing_out(name):
    for shape in ((0,), (3, 0), (0, 5), (0, 0)):
        given_ = [np.empty(shape, v.dtype) if np.ndim(v) else v for v in typical(name, market(5))]
        for got in columns(kernel(name)(*given_)):
            assert got.shape == shape


@every_kernel
def test_results_go_where_out_says(name):
    given_ = typical(name, market(33, seed=5, holes="scattered"))
    expected = columns(getattr(reference, name)(*given_))
    plain = tuple(np.empty_like(e) for e in expected)
    spread = tuple(strided(np.empty_like(e)) for e in expected)
    for out in (plain, spread):
        got = columns(kernel(name)(*given_, out=out if len(out) > 1 else out[0]))
        assert all(g is o for g, o in zip(got, out, strict=True))
        assert_same(name, tuple(got), tuple(expected), given_)


@in_one_test("name", [n for n in FLOATS if KERNELS[n][1].endswith("->d")])
def test_a_result_may_replace_its_source(name):
    given_ = typical(name, market(33, seed=5, holes="scattered"))
    expected = getattr(reference, name)(*given_)
    source = given_[0].copy()
    kernel(name)(source, *given_[1:], out=source)
    assert_same(name, source, expected, given_)


@every_kernel
def test_a_kernel_leaves_its_inputs_alone(name):
    given_ = typical(name, market(33, seed=5, holes="scattered"))
    before = [np.copy(v) for v in given_]
    kernel(name)(*given_)
    for now, then in zip(given_, before, strict=True):
        np.testing.assert_array_equal(now, then)


@in_one_test("name", [name for name in KERNELS if name not in TELLS_LATER])
def test_a_later_bar_changes_nothing_earlier(name):
    data = typical(name, market(60, seed=8, holes="scattered"))
    whole = columns(kernel(name)(*data))
    for bars in (1, 7, 31, 59):
        part = columns(kernel(name)(*(v[:bars] if np.ndim(v) else v for v in data)))
        for early, late in zip(part, whole, strict=True):
            assert_same(name, early, late[:bars], data and [v[:bars] for v in data if np.ndim(v)])


@pytest.mark.parametrize("name", TELLS_LATER)
@given(data=markets, draw=st.data())
def test_of_what_becomes_of_a_zone_a_later_bar_only_fills_in_what_was_na(name, data, draw):
    arguments_ = arguments(name, data, draw.draw)
    bars = draw.draw(st.integers(0, len(data)))
    part = columns(kernel(name)(*(v[:bars] if np.ndim(v) else v for v in arguments_)))
    for early, late in zip(part, columns(kernel(name)(*arguments_)), strict=True):
        known = ~np.isnan(early)
        assert early[known].tolist() == late[:bars][known].tolist()
        assert not (late[:bars][~known] < bars).any()


DRIFTLESS = "sma sum wma alma swma stdev variance dev bb cci cmo cog linreg median".split()


@pytest.mark.parametrize("name", DRIFTLESS)
def test_an_outlier_leaves_no_trace_once_it_left_the_window(name):
    bars = 1_000_000 if BACKEND == "c" else 2_000
    x = 100 + np.sin(np.arange(bars) * 0.37) + 0.001 * (np.arange(bars) % 97)
    x[500] = OUTLIER
    numbers = [v if type(v) is not int else 20 for v in typical(name, market(1)) if not np.ndim(v)]
    got = columns(kernel(name)(x, *numbers))
    # the first bars whose windows (of up to 21) are free of it, and the last of all
    for first, end in ((501, 600), (bars - 200, bars)):
        wanted = columns(getattr(reference, name)(x[first:end], *numbers))
        for each, late in zip(got, wanted, strict=True):
            np.testing.assert_allclose(each[first + 20 : end], late[20:], rtol=1e-12)
