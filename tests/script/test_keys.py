"""Dicts whose numbers and tuples are hashed with a secret: in C, and as the reference has them."""

import gc
import subprocess
import sys
import time
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

from chartpact import _native, script
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.runtime import hashing as keys

BOTH = {"c": (_native.Table, _native.seal), "reference": keys.REFERENCE}


@pytest.fixture(params=BOTH)
def both(request):
    return BOTH[request.param]


@pytest.fixture
def table(both):
    return both[0]


@pytest.fixture
def seal(both):
    return both[1]


SCALARS = st.one_of(
    st.integers(-(2**61) + 2, 2**61 - 2),
    st.integers(-3, 3),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0**61, 0.5, float("inf"), float("-inf")]),
    st.text(max_size=2),
    st.none(),
)
KEYS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
DOINGS = st.lists(
    st.tuples(st.sampled_from("put take default remove merge first".split()), KEYS), max_size=40
)


@settings(max_examples=examples(150), deadline=None)
@given(DOINGS, st.sampled_from([table for table, _ in BOTH.values()]))
def test_a_table_does_what_a_dict_does(doings, table):
    made, model = table(), {}
    for number, (doing, key) in enumerate(doings):
        if doing == "put":
            made[key] = model[key] = number
        elif doing == "take":
            assert made.get(key, "none") == model.get(key, "none")
            assert (key in made) == (key in model)
        elif doing == "default":
            assert made.setdefault(key, number) == model.setdefault(key, number)
        elif doing == "remove":
            assert made.pop(key, "none") == model.pop(key, "none")
        elif doing == "merge":
            made.update([(key, number)])
            made.update({(key, 1): number})
            model.update([(key, number)])
            model.update({(key, 1): number})
        elif model:
            first = next(iter(model))
            assert made.popitem() == (first, model.pop(first))
        assert list(made) == made.keys() == list(model)
        assert made.items() == list(model.items())
    assert table(made) == made
    assert table(model) == made == table(made.items())
    assert dict(made) == model


@given(KEYS, KEYS)
def test_keys_are_equal_where_their_values_are(a, b):
    for _, seal in BOTH.values():
        assert (seal(a) == seal(b)) == (a == b)
        if a == b:
            assert hash(seal(a)) == hash(seal(b))


@pytest.mark.parametrize("missing", [7, 7.5, (7, 8), "seven"])
def test_a_key_that_is_not_there_is_told_as_it_was_given(table, seal, missing):
    made = table({1: 2})
    for ask in (made.__getitem__, made.__delitem__, made.pop):
        for key in (missing, seal(missing)):
            with pytest.raises(KeyError) as caught:
                ask(key)
            assert caught.value.args == (missing,)


def test_na_is_found_by_itself_alone(table):
    na = float("nan")
    made = table([(na, 1), (float("nan"), 2), ((1, na), 3)])
    assert len(made) == 3
    assert made[na] == 1
    assert made[(1, na)] == 3
    assert not made.get(float("nan"))


def test_a_tuple_that_holds_a_list_is_no_key(table):
    with pytest.raises(TypeError, match="unhashable"):
        table()[(1, [])] = 1


def test_what_is_no_pair_makes_no_dict(table):
    with pytest.raises((ValueError, TypeError)):
        table([(1, 2, 3)])
    with pytest.raises(TypeError):
        table(5)


def test_nothing_is_left_when_a_dict_is_gone(table):
    class Own(table):
        __slots__ = ("__weakref__",)

    def circle() -> weakref.ref[Own]:
        made = Own({number: number for number in range(100)})
        made[(lambda: made,)] = 1
        return weakref.ref(made)

    gone = circle()
    gc.collect()
    assert gone() is None


def test_hashes_are_as_secret_as_those_of_texts():
    told = "from chartpact._native import seal; print(hash(seal(1)), hash(seal((1, 2.5))))"
    said = [
        subprocess.run(
            [sys.executable, "-c", told],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "1")
    ]
    assert said[0] == said[2] != said[1]


def colliding_floats() -> list[tuple[float, float]]:
    """Python gives them all one hash: it does not see a factor of 2 to the 61."""
    powers = [1.5 * 2.0 ** (61 * k) for k in range(-15, 16)]
    return [(a, b) for a in powers for b in powers]


def test_keys_of_one_python_hash_have_many(seal):
    values = colliding_floats()
    assert len({hash(value) for value in values}) == 1
    assert len({hash(seal(value)) for value in values}) == len(values)


# --------------------------------------------------------------------------------- what it takes

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
FILLED = """
    places = {}
    x = 1
    for i in range(43000):
        x = (5 * x + 1) % 65536
        places[x] = 1
    late = [65536 * i + 6 for i in STARTS]
    for each in late: places[each] = 1
    for turn in range(1500):
        for each in late: x = places[each]
"""
SLOW = [7046, 6887, 8009, 7850, 5624, 5147, 59, 8440, 6055, 5737, 4844, 2459]


def spent(source: str) -> tuple[int, float]:
    program = script.load(source)
    times = []
    for _ in range(3):
        began = time.process_time()
        steps = script.execute(program, dry_run_bars()).steps
        times.append(time.process_time() - began)
    return steps, min(times)


def test_chosen_numbers_are_found_as_quickly_as_others():
    chosen = spent(HEAD + FILLED.replace("STARTS", str(SLOW)))
    others = spent(HEAD + FILLED.replace("STARTS", str(list(range(1, 13)))))
    assert chosen[0] == others[0]
    assert chosen[1] < 4 * others[1]


def test_steps_do_not_depend_on_the_secret():
    source = HEAD + "    d = {(i % 7, str(i), i * 0.5): i for i in range(500)}\n"
    source += "    for k in list(d): d[k] = d.get(k) + len(str(k))\n    print(len(str(d)))\n"
    told = (
        "import sys; from chartpact import script\n"
        "from chartpact.script.dry_run import dry_run_bars\n"
        "made = script.execute(script.load(sys.argv[1]), dry_run_bars())\n"
        "print(made.steps, made.log)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", told, source],
            env={"PYTHONHASHSEED": seed, "CHARTPACT_NO_NATIVE": without},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, without in (("1", "0"), ("2", "0"), ("3", "1"))
    }
    assert len(said) == 1, said
