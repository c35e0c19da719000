"""The builtins as the door sees them: every family's, by name and alias."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from chartpact.indicators.builtin import Builtin

FAMILIES = (
    "channels vwap trend ichimoku pivots profiles oscillators volatility volume wavetrend kalman "
    "combination external"
).split()


@cache
def table() -> dict[str, Builtin]:
    """Every builtin by its canonical name."""
    modules = [import_module(f"chartpact.indicators.{family}") for family in FAMILIES]
    found = [each for module in modules for each in vars(module).values()]
    return {each.name: each for each in found if isinstance(each, Builtin)}


@cache
def _by_any_name() -> dict[str, Builtin]:
    return {name: each for each in table().values() for name in (each.name, *each.aliases)}


class _Builtins:
    def find(self, name: str, user: str | None) -> Builtin | None:  # noqa: ARG002
        return _by_any_name().get(name)

    def list(self, user: str | None) -> Iterable[Builtin]:  # noqa: ARG002
        return table().values()


provider = _Builtins()
