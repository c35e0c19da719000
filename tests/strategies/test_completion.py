"""A decision is what every completion of the unknown facts gives, and nothing else."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_strategies import decided, make, moment, states

from chartpact.contracts.language.nodes import Compare, Joined, Literal, Mention, Not
from chartpact.contracts.language.values import BOOL, OWNER, Value, enum
from chartpact.strategies.logic import BLOCKED, GRADE, SCORE, Logic, TableRule, World

ATOMS = {"a": (True, False), "b": ("x", "y", "z"), "c": (True, False), "d": ("x", "y")}


def mention(name):
    kind = BOOL if ATOMS[name][0] is True else enum(ATOMS[name])
    return Mention(kind, (name,), Value(kind, OWNER))


def leaf():
    def of(name):
        values = ATOMS[name]
        if values[0] is True:
            return st.just(mention(name))
        texts = st.sampled_from(values)
        return texts.map(
            lambda text: Compare(BOOL, "==", mention(name), Literal(enum([text]), text))
        )

    return st.sampled_from([*ATOMS]).flatmap(of)


conditions = st.recursive(
    leaf(),
    lambda inner: st.one_of(
        inner.map(lambda node: Not(BOOL, node)),
        st.tuples(st.booleans(), st.lists(inner, min_size=2, max_size=3)).map(
            lambda made: Joined(BOOL, made[0], tuple(made[1]))
        ),
    ),
    max_leaves=6,
)


def holds(node, facts):
    """The condition on plain values: an evaluator that shares nothing with the arrays."""
    match node:
        case Mention():
            return facts[node.names[0]]
        case Literal():
            return node.value
        case Compare():
            return holds(node.left, facts) == holds(node.right, facts)
        case Not():
            return not holds(node.of, facts)
        case Joined():
            return (all if node.all else any)(holds(part, facts) for part in node.parts)


@st.composite
def logics(draw):
    logic = Logic(ATOMS)
    logic.blocks = {f"b{n}": draw(conditions) for n in range(draw(st.integers(0, 2)))}
    weights = st.integers(1, 5)
    logic.factors = {
        f"f{n}": (draw(conditions), draw(weights)) for n in range(draw(st.integers(0, 3)))
    }
    logic.grades = {"good": draw(st.integers(1, 6)), "bad": 0}
    for n in range(draw(st.integers(1, 3))):
        known = [*ATOMS, BLOCKED, GRADE, *logic.tables]
        observe = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
        rows = ("P", "Q", "R")
        combinations = product(*(logic.domain(name) for name in observe))
        table = {values: draw(st.sampled_from(rows)) for values in combinations}
        logic.tables[f"t{n}"] = TableRule(tuple(observe), rows, table)
    return logic


def brute(logic, facts):
    """Everything that follows from facts that are all known."""
    score = sum(weight for node, weight in logic.factors.values() if holds(node, facts))
    values = {
        **facts,
        BLOCKED: any(holds(node, facts) for node in logic.blocks.values()),
        SCORE: score,
        GRADE: next(grade for grade, least in logic.grades.items() if score >= least),
    }
    for name, rule in logic.tables.items():
        values[name] = rule.table[tuple(values[observed] for observed in rule.observe)]
    return values


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_world_holds_what_brute_force_lists(data):
    logic = data.draw(logics())
    known = {
        name: data.draw(st.sampled_from(domain))
        for name, domain in ATOMS.items()
        if data.draw(st.booleans())
    }
    world = World(logic, known)
    unknown = [name for name in ATOMS if name not in known]
    completions = [
        brute(logic, known | dict(zip(unknown, values, strict=True)))
        for values in product(*(ATOMS[name] for name in unknown))
    ]
    for name in (*logic.tables, GRADE, BLOCKED):
        assert {*world.options(name)} == {one[name] for one in completions}
    scores = [one[SCORE] for one in completions]
    assert (world.value(SCORE).min(), world.value(SCORE).max()) == (min(scores), max(scores))
    for name in logic.tables:
        matters = {
            fact
            for fact in unknown
            if any(
                brute(logic, {**facts, fact: one})[name]
                != brute(logic, {**facts, fact: other})[name]
                for facts in ({k: c[k] for k in ATOMS} for c in completions)
                for one in ATOMS[fact]
                for other in ATOMS[fact]
            )
        }
        assert {*world.varying(world.value(name))} == matters


@pytest.mark.parametrize("health", ["refused", "stale", "missing"])
def test_a_lost_input_makes_unknown_only_what_depends_on_it(health):
    small = make()
    found = decided(moment(small, states(), news=health))
    assert found.state["permission"] is None
    (permission,) = [one for one in found.unknown if one.table == "permission"]
    assert permission.could_be == ("LONG", "NONE")
    ((fact, causes),) = permission.for_want_of
    assert (fact, causes[0]["input"], causes[0]["why"]) == ("near", "news", health)
    assert found.perhaps_blocked_by == ("event",)
    assert (found.score.low, found.score.high, found.score.grade) == (2, 3, "B")


def test_an_unknown_that_does_not_matter_is_no_obstacle():
    small = make()
    found = decided(moment(small, states("neutral"), news="refused"))
    assert found.state["permission"] == "NONE"
    assert found.state["call"] == "PASS"


def test_none_is_unknown_where_the_file_says_so():
    small = make()
    found = decided(moment(small, states(near=None)))
    (permission,) = [one for one in found.unknown if one.table == "permission"]
    assert permission.for_want_of == (("near", ({"input": "news", "why": "none"},)),)


def test_a_cause_is_told_once():
    small = make()
    unknown = decided(moment(small, states(), news="refused")).to_json()["unknown"]
    told = [one["because"] for table in unknown for one in table["for_want_of"] if "fact" in one]
    assert told[0] and not any(told[1:])


def test_detail_is_left_out_where_all_is_well():
    small = make()
    answer = decided(moment(small, states(), news="stale")).to_json(detail=False)
    assert answer["facts"] == {"near": None, "free": None}
    assert [*answer["inputs"]] == ["news"]
