"""The page of a strategy in Markdown, made of its file and its examples."""

from collections.abc import Iterator, Sequence

from chartpact.contracts.check.totality import OTHERWISE, spell
from chartpact.contracts.workbench.exports import code, table
from chartpact.strategies.strategy import Strategy
from chartpact.strategies.workbench.examples import StrategyExample


def page(strategy: Strategy, examples: Sequence[StrategyExample] = ()) -> str:
    """The page of a strategy, for people."""
    file = strategy.file
    parts = [f"# {strategy.name} {strategy.version}\n"]
    parts += [f"{text.strip()}\n" for text in (file.about, file.notes) if text]
    for title, lines in (
        ("Inputs", _inputs(strategy)),
        ("Windows", _windows(strategy)),
        ("Facts", _facts(strategy)),
        ("Reasons not to", _blocks(strategy)),
        ("Score", _factors(strategy)),
        ("What is remembered", _latches(strategy)),
        ("Tables", _tables(strategy)),
        ("Proved", _proved(strategy)),
        ("Examples", _examples(examples)),
    ):
        written = list(lines)
        if written:
            parts += [f"## {title}\n", *written]
    return "\n".join(parts).rstrip() + "\n"


def _inputs(strategy: Strategy) -> Iterator[str]:
    rows = [
        [code(name), code(spec.contract), str(spec.major), spec.timeframe or "that of the chart"]
        for name, spec in strategy.file.inputs.items()
    ]
    yield table(["input", "contract", "major version", "timeframe"], rows)


def _windows(strategy: Strategy) -> Iterator[str]:
    for name, window in strategy.file.windows.items():
        days = f" on {', '.join(window.days)}" if window.days else ""
        hours = f"{window.from_[:2]}:{window.from_[2:]} to {window.to[:2]}:{window.to[2:]}"
        yield f"- `{name}`: {hours}{days} in {window.zone}; the end is not part of it.\n"


def _facts(strategy: Strategy) -> Iterator[str]:
    rows = []
    for name, spec in strategy.file.facts.items():
        values = ", ".join(map(spell, strategy.logic.atoms[name]))
        none = f"; where it is none: {spell(spec.none)}" if spec.speaks_of_none else ""
        rows.append([code(name), f"{values}{none}", spec.say or "", code(spec.is_)])
    yield table(["fact", "values", "meaning", "is"], rows)


def _blocks(strategy: Strategy) -> Iterator[str]:
    rows = [[code(name), one.say, code(one.when)] for name, one in strategy.file.blocks.items()]
    if rows:
        yield table(["block", "says", "when"], rows)


def _factors(strategy: Strategy) -> Iterator[str]:
    file = strategy.file
    rows = [
        [code(name), str(one.weight), one.say or "", code(one.when)]
        for name, one in file.factors.items()
    ]
    if rows:
        yield table(["factor", "weight", "says", "when"], rows)
    if file.grades:
        grades = ", ".join(f"`{name}` from {least:g}" for name, least in file.grades.items())
        yield f"Grades: {grades}.\n"


def _latches(strategy: Strategy) -> Iterator[str]:
    file = strategy.file
    rows = [
        [code(name), code(one.set), ", ".join(one.after), ", ".join(one.unless)]
        for name, one in file.latches.items()
    ]
    if rows:
        yield table(["latch", "set when", "after", "unless"], rows)
    if file.epoch is not None:
        yield f"Everything begins anew when this changes: `{file.epoch}`.\n"


def _tables(strategy: Strategy) -> Iterator[str]:
    for name, spec in strategy.file.tables.items():
        yield f"### {name}\n"
        rows = []
        for row, written in spec.rows.items():
            for when in written if isinstance(written, list) else [written]:
                cells = [
                    "everything else" if when == OTHERWISE and n == 0 else _cell(when, observed)
                    for n, observed in enumerate(spec.observe)
                ]
                rows.append([*cells, code(row)])
        yield table([*spec.observe, "row"], rows)
        if spec.transitions is not None:
            steps = [f"`{was}` → {', '.join(after)}" for was, after in spec.transitions.items()]
            yield f"Begins with {', '.join(spec.initial)}. Steps: {'; '.join(steps)}.\n"


def _cell(when: object, observed: str) -> str:
    if not isinstance(when, dict) or observed not in when:
        return "any" if isinstance(when, dict) else ""
    value = when[observed]
    return " or ".join(map(spell, value if isinstance(value, list) else [value]))


def _proved(strategy: Strategy) -> Iterator[str]:
    yield "Every table has exactly one row for whatever its observations are."
    for never in strategy.file.never:
        parts = [f"{name} = {_cell(never, name)}" for name in never]
        yield f"- It never happens that {' and '.join(parts)}."
    if strategy.file.mirror:
        sides = ", ".join(f"{one} and {other}" for one, other in strategy.file.mirror.items())
        yield f"- With {sides} changed over, everything is decided the other way round."
    yield ""


def _examples(examples: Sequence[StrategyExample]) -> Iterator[str]:
    for example in examples:
        state = ", ".join(f"{name} {row}" for name, row in example.expect["state"].items())
        yield f"- {example.about or example.name}: {state}"
