"""A study by the local user, entered in their ledger: what Python and the shell call."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chartpact import sources, studies
from chartpact.bars import BarsLike
from chartpact.catalogue import Catalogue
from chartpact.library.local import LOCAL_USER, database_url
from chartpact.needs import Fetch
from chartpact.request import Request
from chartpact.studies import Ask, StudyAnswer, StudyResult, read_ask
from chartpact.studies.ask import HOLD_OUT, Unit


def study(
    indicator: str,
    bars: BarsLike,
    *,
    long: Iterable[str] = (),
    short: Iterable[str] = (),
    states: Iterable[str] = (),
    horizons: Iterable[int] | None = None,
    params: Mapping[str, Any] | None = None,
    sweep: Iterable[str] | Mapping[str, Sequence[Any]] = (),
    cost_ticks: float | None = None,
    hold_out: float = HOLD_OUT,
    confirm: bool = False,
    zone: str | None = None,
    unit: Unit = "atr",
    all: bool = False,
    catalogue: Catalogue | None = None,
    fetch: Fetch | None = None,
) -> StudyResult:
    """What followed the signals of an indicator, a script's path or a pact, honestly tested.

    `long` and `short` name signals and say which way each speaks; `states` are rows of a pact's
    machines, as in `trend=BULL:long`. `sweep` tries parameters, as in `period=5..20:5`. A study
    that would not be honest raises a `StudyError`: its kind is `rewrites`, `provisional`,
    `undated`, `too_few`, `too_long` or `no_side`. Each study is counted in your local ledger.
    """
    ask = read_ask(
        long, short, states, horizons, params, sweep, cost_ticks, hold_out, confirm, zone, unit, all
    )
    return run(indicator, sources.to_bars(bars), ask, catalogue or Catalogue(), fetch)


def run(
    indicator: str,
    bars: Any,
    ask: Ask,
    catalogue: Catalogue,
    fetch: Fetch | None = None,
    progress: Callable[[float], None] = lambda _share: None,
) -> StudyResult:
    """The study of an indicator of this catalogue, or of a script's path, entered in the ledger."""
    known = catalogue.with_files([Request(indicator)])

    def plan(values: Mapping[str, Any]) -> Any:
        return known.plan([Request(indicator, values)])[0]

    answer = studies.study(bars, plan, ask, fetch or sources.fetch, progress=progress)
    return StudyResult(_enter(answer))


def _enter(answer: StudyAnswer) -> StudyAnswer:
    """The answer with what the local ledger held before; without a database, as it is."""
    import sqlalchemy as sa

    from chartpact.library.database import open_database
    from chartpact.library.study_ledger import StudyLedger

    try:
        database = open_database(database_url())
    except (ValueError, OSError, sa.exc.SQLAlchemyError, ModuleNotFoundError) as error:
        reason = getattr(error, "orig", None) or error
        message = f"the ledger cannot be opened, so this study is not counted: {reason}"
        warnings.warn(message, stacklevel=4)
        return answer
    try:
        return answer.entered(*StudyLedger(database).enter(LOCAL_USER, *answer.entry_in_ledger))
    finally:
        database.close()
