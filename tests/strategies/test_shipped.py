"""The strategies that ship: their examples, both changes of clocks, and their life on bars."""

import pytest

import chartpact as cp
from chartpact import sources, strategies
from chartpact.catalogue import Catalogue
from chartpact.strategies import following
from chartpact.strategies.workbench import examples, mutants
from chartpact.tracker import Memory, step

NAMES = strategies.names()


def shown(name):
    return examples.load_all(strategies.folder(name) / "examples")


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_decided_as_it_says(name):
    strategy = strategies.find(name)
    for example in shown(name):
        assert example.answer(strategy).difference(example.expect) is None, example.name


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_change_of_the_file_lives_and_nothing_is_unshown(name):
    strategy = strategies.find(name)
    assert examples.unshown(strategy, shown(name)) == []
    assert mutants.mutate(strategy, shown(name)).living == ()


@pytest.mark.parametrize(
    ("close", "is_open"),
    [
        ("2024-03-08T13:25", False),  # winter: 08:25 in New York
        ("2024-03-08T13:30", True),
        ("2024-03-08T15:55", True),
        ("2024-03-08T16:00", False),
        ("2024-03-11T12:25", False),  # summer
        ("2024-03-11T12:30", True),
        ("2024-11-01T14:55", True),
        ("2024-11-01T15:00", False),
        ("2024-11-04T13:25", False),  # winter again
        ("2024-11-04T13:30", True),
    ],
)
def test_a_window_keeps_the_clocks_of_its_zone(close, is_open):
    import datetime

    moment = datetime.datetime.fromisoformat(f"{close}+00:00")
    strategy = strategies.find("ict_hunt")
    where, hours = strategy.windows["entry"]
    wall = examples._wall(where, int(moment.timestamp() * 1000))
    assert bool(hours.contains(wall)[0]) is is_open


def test_live_replay_and_a_restart_between_two_bars_agree():
    strategy = strategies.find("session_turn")
    bars = cp.load("sample:es-5m")
    plans = strategies.plans_of(strategy, Catalogue())
    rules, first, last = following.rules_of(strategy), len(bars) - 20, len(bars)

    def drawn(count):
        return strategies.draw(strategy, bars[:count], plans, sources.fetch)

    live, told = Memory(), []
    for count in range(first, last + 1):
        for reading in following.follow(drawn(count), live):
            done = step(rules, live, reading)
            live = Memory.from_json(done.memory.to_json())  # as a restart reads it
            told += done.changes
    replayed, gathered = Memory(), []
    for count in (first, last):  # what lies between was missed, and is read in order
        for reading in following.follow(drawn(count), replayed):
            done = step(rules, replayed, reading)
            replayed, gathered = done.memory, gathered + list(done.changes)
    assert replayed.to_json() == live.to_json()
    assert gathered == told
