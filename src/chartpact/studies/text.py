"""A study in words: what and where, a table of its tests, and what they say."""

from collections.abc import Iterator

from chartpact.clock.walltime import iso
from chartpact.studies.answer import Horizon, StudyAnswer

HEAD = ("signal", "bars", "events", "excess", "interval", "hit / usual", "p alone", "p family", "")


def write(answer: StudyAnswer) -> str:
    """The answer for people."""
    return "\n".join(_lines(answer)) + "\n"


def _lines(answer: StudyAnswer) -> Iterator[str]:
    of, bars, honesty = answer.of, answer.bars, answer.honesty
    params = ", ".join(f"{name}={value}" for name, value in of.params.items())
    where = " ".join(filter(None, (bars.symbol, bars.timeframe))) or "bars without a name"
    synthetic = ", synthetic" if bars.synthetic else ""
    until = iso(answer.split.studied_until)
    yield f"{of.name}{f' ({params})' if params else ''}"
    yield f"{where}, {bars.count:,} bars{synthetic}: {iso(bars.first)} to {iso(bars.last)}"
    held = f"; {answer.split.held_out:.0%} held out" if answer.split.held_out else ""
    yield f"studied until {until}{held}; entry at the {answer.entry}, exit at the {answer.exit}"
    yield ""
    rows = [HEAD, *_rows(answer)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    yield ""
    yield answer.says
    if answer.best is not None:
        best = answer.best
        near = (
            "" if best.neighbours_median is None else f"; neighbours {best.neighbours_median:+.2f}"
        )
        forward = ", ".join(
            "–" if f.excess is None else f"{f.excess:+.2f}" for f in best.walk_forward
        )
        set_ = ", ".join(f"{name}={value}" for name, value in best.params.items())
        yield (
            f"best: {best.name} over {count_bars(best.bars)}, {set_}: {best.excess:+.2f}{near}; "
            f"walked forward: {forward}; deflated Sharpe {best.deflated_sharpe:.2f}"
        )
    if answer.confirmed is not None:
        yield f"confirmed: {answer.confirmed.says}"
    share = answer.path.before_known
    if share is not None:
        yield f"{share:.0%} of what the picture shows happened before the signal was known."
    before = honesty.tests_before
    earlier = "" if before is None else f"; {before} earlier tests by you on these bars"
    yield f"{honesty.prove}; {honesty.events_checked} events were checked{earlier}"
    warnings = [*answer.warnings]
    for signal in answer.signals:
        for horizon in signal.horizons:
            place = f"{signal.name}, {count_bars(horizon.bars)}"
            warnings += [f"{place}: {warning}" for warning in horizon.warnings]
    for warning in warnings[:20]:
        yield f"warning: {warning}"
    if len(warnings) > 20:
        yield f"and {len(warnings) - 20} warnings more"


def _rows(answer: StudyAnswer) -> Iterator[tuple[str, ...]]:
    unit = "ATR" if answer.unit != "ticks" else "ticks"
    for signal in answer.signals:
        params = ",".join(f"{name}={value}" for name, value in signal.params.items())
        for horizon in signal.horizons:
            low_high = "–"
            if horizon.interval is not None:
                low_high = "{:+.2f} to {:+.2f}".format(*horizon.interval)
            yield (
                f"{signal.name}{f' {params}' if params else ''} {signal.side}",
                str(horizon.bars),
                str(horizon.events),
                f"{excess_of(horizon, unit):+.2f} {unit}",
                low_high,
                f"{horizon.hit:.0%} / {horizon.hit_baseline:.0%}",
                f"{horizon.p:.3f}",
                f"{horizon.p_family:.3f}",
                horizon.verdict.replace("_", " "),
            )


def excess_of(horizon: Horizon, unit: str) -> float:
    """The excess in the unit of the study."""
    return horizon.excess_atr if unit == "ATR" else horizon.excess_ticks or 0.0


def count_bars(count: int) -> str:
    """`1 bar`, `10 bars`."""
    return f"{count} bar" if count == 1 else f"{count} bars"
