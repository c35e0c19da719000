"""What holds for any script: it is refused in words, or it is Starlark and ends in its budget."""

from hypothesis import given, settings
from tests.effort import examples
from tests.script import oracle
from tests.script.grammar import broken_scripts, programs, scalar_expressions, scripts

from chartpact import script
from chartpact.script.dry_run import dry_run_bars

BARS = dry_run_bars(40)
BUDGET = 200_000


def outcome(source: str) -> str:
    """How the script ends; anything but a ScriptError fails the test."""
    program, problems = script.examine(source, script.Limits())
    if program is None:
        assert problems
        return f"{problems[0].step} {problems[0].kind}"
    assert oracle.parses(source) is None, source
    try:
        result = script.execute(program, BARS, budget=BUDGET)
    except script.ScriptError as error:
        assert error.kind != "crash", source
        assert error.step == "run"
        assert error.line is None or 1 <= error.line <= source.count("\n") + 1
        return f"run {error.kind} {error.line} {error.message}"
    assert result.steps <= BUDGET
    return f"done {result.steps}"


@settings(max_examples=examples(150))
@given(scripts())
def test_a_script_made_by_chance_ends_in_words_or_in_budget(source):
    assert outcome(source) == outcome(source)


@settings(max_examples=examples(150))
@given(broken_scripts())
def test_a_broken_script_is_refused_in_words(source):
    outcome(source)


@settings(max_examples=examples(200))
@given(scalar_expressions())
def test_a_scalar_expression_means_the_same_in_starlark(expression):
    here, there = oracle.value_here(expression), oracle.value_there(expression)
    if here == there or "inf" in here + there:
        return
    # a bool as a key, None as the bound of a slice: rows of the table of differences
    key = here == oracle.FAILED and "{" in expression
    assert key or (there == oracle.FAILED and ":]" in expression)


# What the table of differences says, as it shows in a message or in a result.
DELIBERATE = ("a bool cannot be the key", "deep", "1024 bits", "separator cannot be empty")


@settings(max_examples=examples(120))
@given(programs())
def test_a_program_means_the_same_in_starlark(program):
    there, why = oracle.program_there(program), ""
    try:
        here = oracle.run_here(program)
    except script.ScriptError as error:
        here, why = oracle.FAILED, error.message
    told = here + there
    if any(each in told for each in ("inf", "nan", "<function", oracle.PANICKED)):
        return
    popped = there == oracle.FAILED and ".pop(" in program  # -2, as indices everywhere
    assert here == there or popped or any(each in why for each in DELIBERATE)
