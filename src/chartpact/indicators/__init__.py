"""The builtins, a module for each family."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from chartpact.indicators.builtin import Builtin

FAMILIES = (
    "channels vwap trend ichimoku pivots profiles oscillators volatility volume wavetrend kalman "
    "combination external"
).split()


@cache
def table() -> Mapping[str, Builtin]:
    """Every builtin by its canonical name."""
    modules = [import_module(f"chartpact.indicators.{family}") for family in FAMILIES]
    values = [value for module in modules for value in vars(module).values()]
    return {value.name: value for value in values if isinstance(value, Builtin)}


@cache
def by_any_name() -> Mapping[str, Builtin]:
    """Every builtin by its name and by each of its aliases."""
    return {
        name: builtin for builtin in table().values() for name in (builtin.name, *builtin.aliases)
    }


def canonical(name: str) -> str | None:
    """The name of the builtin that has this name or alias, if there is one.

    >>> canonical("bollinger"), canonical("bolinger")
    ('bbands', None)
    """
    builtin = by_any_name().get(name)
    return None if builtin is None else builtin.name
