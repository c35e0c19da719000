"""The one door to indicators: whoever wants one asks `resolve(name, user)`.

Indicators come from providers, asked in order: a user's own scripts, then pacts, then the
builtins. A script that bears a builtin's name shadows it for that user alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from chartpact.bars import Bars
from chartpact.indicators import builtins
from chartpact.params import IndicatorError, Param
from chartpact.params import resolve as resolve_params
from chartpact.problem import Problem, nearest
from chartpact.scene import Scene

__all__ = ["Indicator", "IndicatorError", "Param", "indicator", "list_indicators", "resolve"]


class Indicator(Protocol):
    """Anything that draws a scene from bars."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def aliases(self) -> Sequence[str]: ...
    @property
    def category(self) -> str: ...  # overlay, panel or external
    @property
    def source(self) -> str: ...  # builtin, pact or user
    @property
    def description(self) -> str: ...
    @property
    def params(self) -> Sequence[Param]: ...
    @property
    def overlay(self) -> bool: ...

    def compute(self, bars: Bars, params: Mapping[str, Any]) -> Scene: ...


class Measured(Protocol):
    """What a metered indicator drew, and what it was charged for it."""

    @property
    def scene(self) -> Scene: ...
    @property
    def steps(self) -> int: ...


@runtime_checkable
class Metered(Protocol):
    """An indicator whose work is counted, as a script's is."""

    def result(self, bars: Bars, params: Mapping[str, Any]) -> Measured: ...


class Provider(Protocol):
    """A place where indicators come from."""

    def find(self, name: str, user: str | None) -> Indicator | None: ...

    def list(self, user: str | None) -> Iterable[Indicator]: ...


_providers: list[Provider] = [builtins.provider]


def provide(provider: Provider) -> None:
    """Asks this provider before the ones that are there."""
    _providers.insert(0, provider)


def resolve(name: str, user: str | None = None) -> Indicator:
    """The indicator of that name or alias, as this user sees it.

    >>> resolve("rsi").title
    'Relative Strength Index'
    """
    asked = str(name)  # whatever a caller hands over is looked up, and refused, as a name
    found = _find(asked, user)
    if found is not None:
        # An alias is another word for the name, under which something of the user's may stand.
        return found if found.name == asked else _find(found.name, user) or found
    known = list_indicators(user)
    names = [alias for each in known for alias in (each.name, *each.aliases)]
    near = nearest(asked, names, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`chartpact indicators` lists them"
    raise IndicatorError(Problem("name", f"there is no indicator {name!r:.80}", hint))


def _find(name: str, user: str | None) -> Indicator | None:
    for provider in _providers:
        found = provider.find(name, user)
        if found is not None:
            return found
    return None


def canonical(name: str) -> str | None:
    """The name of the indicator that everybody gets by this name or alias, if there is one.

    >>> canonical("bollinger"), canonical("bolinger")
    ('bbands', None)
    """
    found = _find(name, None)
    return None if found is None else found.name


def list_indicators(user: str | None = None) -> list[Indicator]:
    """Every indicator this user can ask for, a shadowed one left out."""
    seen: dict[str, Indicator] = {}
    for provider in _providers:
        for each in provider.list(user):
            seen.setdefault(each.name, each)
    return sorted(seen.values(), key=lambda each: each.name)


def indicator(name: str, **params: Any) -> Callable[[Bars], Scene]:
    """A function from bars to the scene the indicator draws on them.

    >>> import chartpact as cp
    >>> scene = cp.indicator("rsi", period=7)(cp.load("sample:es-5m"))
    >>> scene.plots[0].title
    'RSI'
    """
    found = resolve(name)
    values = resolve_params(found.params, params, found.name)
    return lambda bars: found.compute(bars, values)


def describe(each: Indicator) -> dict[str, Any]:
    """The indicator as the lists of every door show it."""
    return {
        "name": each.name,
        "title": each.title,
        "aliases": list(each.aliases),
        "category": each.category,
        "source": each.source,
        "description": each.description,
        "params": [param.to_json() for param in each.params],
    }
