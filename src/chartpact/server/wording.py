"""Answers in words, for clients that hand the text of an answer to their model."""

from collections.abc import Iterator
from functools import singledispatch

from chartpact.oneline import escape_unseen, one_line
from chartpact.server import shapes


@singledispatch
def in_words(answer: object) -> str:
    """The answer as a short text."""
    raise TypeError(f"{type(answer).__name__} is no answer of a tool")


@in_words.register
def _(answer: shapes.WireModel) -> str:
    """JSON without indents, which is half the size; text of charts hides nothing in it."""
    return escape_unseen(answer.model_dump_json())


@in_words.register
def _(answer: shapes.Symbols) -> str:
    return "\n".join(line for source in answer.sources for line in _source_lines(source, answer))


def _source_lines(source: shapes.SourceAbout, answer: shapes.Symbols) -> Iterator[str]:
    yield f"{source.source}: {one_line(source.error or source.about)}"
    names = [
        f"{known.symbol} ({known.timeframe})" if known.timeframe else known.symbol
        for known in answer.symbols
        if known.source == source.source
    ]
    if names:
        more = f", and {source.more} more" if source.more else ""
        yield one_line(f"  {', '.join(names)}{more}")


@in_words.register
def _(answer: shapes.MyIndicators) -> str:
    lines = [
        f"{own.name}: {one_line(own.title)}{' (in place of the builtin)' * own.shadows_builtin}"
        for own in answer.indicators
    ]
    return "\n".join(lines) or "none yet: register_indicator saves one"


@in_words.register
def _(answer: shapes.Outcome) -> str:
    lines = ["done" if answer.ok else "not done, and nothing was changed:"]
    lines += [_problem_line(problem) for problem in answer.errors or ()]
    lines += [f"warning: {_problem_line(problem)}" for problem in answer.warnings or ()]
    return "\n".join(lines)


def _problem_line(problem: shapes.ScriptProblem) -> str:
    place = "" if problem.line is None else f"line {problem.line}, column {problem.column}: "
    hint = f" ({problem.hint})" if problem.hint else ""
    return one_line(f"{place}{problem.message}{hint}")


@in_words.register
def _(answer: shapes.SourceOut) -> str:
    return answer.source


@in_words.register
def _(answer: shapes.Fork) -> str:
    return answer.source
