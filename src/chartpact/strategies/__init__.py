"""Strategies: from several typed states to one decision that explains itself, or to `unknown`.

A file is read in steps. `model` checks its shape, `strategy` its meaning, and `proofs` what can
ever happen, by `logic`, which lists it. `moment` finds the facts at one moment, `decision` what
follows from them and from what latches remember. `drawing` does that on own bars. What authors work
with is apart, in `workbench`. A strategy places no orders.

>>> import chartpact as cp
>>> decision = read_bars(find("session_turn"), cp.load("sample:es-5m"))
>>> decision.state
{'permission': 'NONE', 'setup': 'IDLE', 'call': 'PASS'}
"""

from functools import cache, partial
from pathlib import Path
from typing import Any

from chartpact.contracts.language import document
from chartpact.contracts.language.document import refusal
from chartpact.strategies.decision import LatchMemory, StrategyDecision, decide
from chartpact.strategies.drawing import DrawnStrategy, draw, plans_of, read_bars, read_snapshot
from chartpact.strategies.moment import Moment, bind
from chartpact.strategies.strategy import Strategy, beside, load

__all__ = [
    "DrawnStrategy",
    "LatchMemory",
    "Moment",
    "Strategy",
    "StrategyDecision",
    "bind",
    "decide",
    "describe",
    "draw",
    "find",
    "folder",
    "is_strategy",
    "load",
    "load_file",
    "names",
    "plans_of",
    "read_bars",
    "read_snapshot",
    "summarise",
]

_SHIPPED = Path(__file__).resolve().parent / "shipped"


@cache
def names() -> tuple[str, ...]:
    """The strategies that come with the package."""
    return tuple(sorted(path.parent.name for path in _SHIPPED.glob("*/strategy.yaml")))


def folder(name: str) -> Path:
    """Where the files of a shipped strategy are."""
    return _SHIPPED / name


def find(strategy: Strategy | str | Path) -> Strategy:
    """The strategy that is given as such, by the name of a shipped one, or by its file."""
    if isinstance(strategy, Strategy):
        return strategy
    if isinstance(strategy, str) and strategy in names():
        return load_file(folder(strategy) / "strategy.yaml")
    path = Path(strategy)
    try:
        if path.is_dir():
            path /= "strategy.yaml"
        if path.exists():
            return load_file(path)
    except OSError:  # a name that no file can have
        pass
    hint = f"shipped: {', '.join(names())}; or name a file"
    raise refusal(None, f"there is no strategy {str(strategy)!r:.120}", hint)


def load_file(path: str | Path) -> Strategy:
    """The strategy in a file; contracts that do not ship are looked for beside it."""
    return document.load_file(path, partial(load, find=beside(Path(path).parent)))


def is_strategy(name: str) -> bool:
    """Whether a name is that of a shipped strategy, or of a file or folder that holds one."""
    if name in names():
        return True
    path = Path(name)
    try:
        if path.is_dir():
            return (path / "strategy.yaml").is_file()
        with open(path, "rb") as file:
            return "strategy" in (document.parse(file.read(document.MAX_BYTES)).keys)
    except (OSError, ValueError):  # told where it is read
        return False


def summarise(strategy: Strategy, source: str = "shipped") -> dict[str, Any]:
    """A strategy in a list, as every door gives it out."""
    return {
        "name": strategy.name,
        "version": strategy.version,
        "about": strategy.file.about,
        "inputs": {
            name: {"contract": spec.contract, "major": spec.major, "timeframe": spec.timeframe}
            for name, spec in strategy.file.inputs.items()
        },
        "tables": {name: list(table.rows) for name, table in strategy.file.tables.items()},
        "source": source,
    }


def describe(strategy: Strategy, source: str = "shipped") -> dict[str, Any]:
    """A strategy with its parts and its text, as every door gives it out."""
    file, logic = strategy.file, strategy.logic
    return {
        **summarise(strategy, source),
        "facts": {name: list(domain) for name, domain in logic.atoms.items()},
        "blocks": {name: block.say for name, block in file.blocks.items()},
        "factors": {name: factor.weight for name, factor in file.factors.items()},
        "grades": dict(file.grades),
        "latches": list(file.latches),
        "config": {
            name: key.model_dump(exclude_unset=True, by_alias=True)
            for name, key in file.config.items()
        },
        "profiles": {name: dict(values) for name, values in file.profiles.items()},
        "text": strategy.text,
    }
