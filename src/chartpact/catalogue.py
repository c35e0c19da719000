"""What one user can ask for: builtins, pacts and the user's own scripts, as one value.

>>> Catalogue().resolve("rsi").title
'Relative Strength Index'
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chartpact import indicators, pacts
from chartpact.bars import Bars
from chartpact.bars.errors import unreadable
from chartpact.indicators.builtin import Builtin, require_volume
from chartpact.needs import BARS, CALENDAR, Need, Needs, Supplies
from chartpact.params import IndicatorError, Param
from chartpact.params import resolve as resolve_params
from chartpact.problem import Failure, Problem, did_you_mean
from chartpact.request import Asked, Request, echo, format_request, make_id
from chartpact.scene import Scene

if TYPE_CHECKING:
    from chartpact.script import Limits, Result

PACT = "pact"  # where an indicator comes from that ships with a contract
BUILTIN = "builtin"


@dataclass(frozen=True)
class ScriptIndicator:
    """A script as an indicator: what its PARAMS and META declare, and its code to be run.

    `source` is where it comes from (user, builtin or pact), `user` whose turn a run takes. What
    ships with the package is trusted: it runs in this process, under its meter. The caller's
    `own` script runs also where there is no sandbox, unprotected.
    """

    name: str
    code: str
    params: tuple[Param, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    source: str = "user"
    aliases: tuple[str, ...] = ()
    user: str | None = None
    limits: "Limits | None" = None
    own: bool = False

    @classmethod
    def read(cls, name: str, code: str) -> "ScriptIndicator":
        """The caller's own script as an indicator; raises the first error in it."""
        from chartpact import sandbox  # not needed where builtins are drawn

        inspected = sandbox.inspect(code, name=name, own=True)
        if inspected.errors:
            raise inspected.errors[0]
        return cls(name, code, inspected.params, inspected.meta, own=True)

    @property
    def trusted(self) -> bool:
        return self.source in (BUILTIN, PACT)

    @property
    def title(self) -> str:
        return str(self.meta.get("title", self.name))

    @property
    def short_title(self) -> str | None:
        return self.meta.get("short_title")

    @property
    def description(self) -> str:
        return str(self.meta.get("description", ""))

    @property
    def category(self) -> str:
        return str(self.meta.get("category", "overlay" if self.overlay else "panel"))

    @property
    def overlay(self) -> bool:
        return bool(self.meta.get("overlay", self.meta.get("category") == "overlay"))

    @property
    def needs_volume(self) -> bool:
        return bool(self.meta.get("needs_volume"))

    def needs(self, bars: Bars, values: Mapping[str, Any]) -> Needs:
        """The symbols and calendars its parameters name; unset, the bars' own pair and events."""
        needs: dict[str, Need] = {}
        for param in self.params:
            if param.type == "symbol" and (name := values[param.name] or bars.pair):
                needs[param.name] = Need(BARS, name, bars.timeframe)
            elif param.type == "calendar" and (name := values[param.name] or bars.calendar):
                needs[param.name] = Need(CALENDAR, name)
        return needs

    def looks_outside(self, values: Mapping[str, Any]) -> bool:
        """Whether a parameter names a symbol or a calendar; the samples' are at hand."""
        supplied = ("symbol", "calendar")
        return any(param.type in supplied and values[param.name] for param in self.params)

    def run(
        self, bars: Bars, values: Mapping[str, Any], supplies: Supplies, first_visible: int = 0
    ) -> "Result":
        """What a run draws, costs and prints."""
        from chartpact import sandbox, script  # not needed where builtins are drawn

        if self.needs_volume:
            require_volume(self.name, bars)
        symbols = {name: got for name, got in supplies.items() if isinstance(got, Bars)}
        calendars = {name: got for name, got in supplies.items() if isinstance(got, tuple)}
        extras = script.Extras(symbols, calendars, first_visible)
        if self.trusted:
            return script.execute(script.load(self.code), bars, values, extras=extras)
        return sandbox.run(
            self.code,
            bars,
            values,
            limits=self.limits,
            user=self.user,
            name=self.name,
            extras=extras,
            own=self.own,
        )

    def draw(self, bars: Bars, values: Mapping[str, Any], supplies: Supplies) -> Scene:
        return self.run(bars, values, supplies).scene


Indicator = Builtin | ScriptIndicator  # draws a scene from bars


@cache
def pact(name: str) -> ScriptIndicator:
    """The indicator of a pact, which ships as a script with the contract that reads it."""
    from chartpact import script  # not needed where builtins are drawn

    program = script.load(pacts.source(name))
    return ScriptIndicator(name, program.source, program.params, program.meta, PACT)


@cache
def scripted(name: str) -> ScriptIndicator:
    """The builtin of this name, which is nothing but a script."""
    from chartpact import script  # not needed where builtins are drawn
    from chartpact.script import stock

    program = script.load(stock.source(name))
    params = tuple(
        replace(param, aliases=("length",)) if param.name == "period" else param
        for param in program.params
    )
    aliases = stock.ALONE[name]
    return ScriptIndicator(name, program.source, params, program.meta, BUILTIN, aliases)


def shipped() -> dict[str, Indicator]:
    """Every indicator that comes with the package, by its canonical name."""
    from chartpact.script import stock  # not needed where builtins are drawn

    alone = {name: scripted(name) for name in stock.ALONE}
    return {**indicators.table(), **alone, **{name: pact(name) for name in pacts.drawable()}}


def canonical(name: str) -> str | None:
    """The name of the builtin or pact that has this name or alias, in any case.

    >>> canonical("Bollinger"), canonical("ao"), canonical("ema_trend"), canonical("bolinger")
    ('bbands', 'awesome', 'ema_trend', None)
    """
    from chartpact.script import stock  # not needed where builtins are drawn

    name = name.lower()
    pact_name = name if name in pacts.drawable() else None
    return indicators.canonical(name) or pact_name or stock.canonical(name)


def forkable() -> list[str]:
    """The builtins and pacts whose source a user may take and change."""
    from chartpact.script import stock  # not needed where builtins are drawn

    return sorted([*stock.NAMES, *stock.ALONE, *pacts.drawable()])


def fork(name: str) -> str:
    """The script that draws what the builtin or pact of this name draws."""
    from chartpact.script import stock

    known, names = canonical(name), forkable()
    if known in names:
        return pacts.source(known) if known in pacts.drawable() else stock.source(known)
    if known is not None:
        message = f"{name!r} cannot be forked: it draws readings that no script can fetch"
        hint = "draw it beside a script of your own, or fork what draws volume, such as 'cvd'"
        raise IndicatorError(Problem("name", message, hint))
    message = f"there is no builtin {name!r:.80}"
    raise IndicatorError(Problem("name", message, did_you_mean(name, names, 3)))


def describe(indicator: Indicator, detail: bool = True) -> dict[str, Any]:
    """The indicator as the lists of every door show it."""
    data = {name: getattr(indicator, name) for name in ("name", "title", "category", "source")}
    if not detail:
        return data
    params = [param.to_json() for param in indicator.params]
    aliases, description = list(indicator.aliases), indicator.description
    return {**data, "aliases": aliases, "description": description, "params": params}


def _words(indicator: Indicator) -> str:
    """All that a search can find an indicator by."""
    names = ("name", "title", "category", "source", "description")
    return " ".join([*(getattr(indicator, name) for name in names), *indicator.aliases]).lower()


@dataclass(frozen=True)
class Plan:
    """An indicator to draw, with the value of every parameter; or why it cannot be drawn."""

    id: str  # unique within a chart
    name: str
    params: Mapping[str, Any]
    indicator: Indicator | None = None
    problem: Problem | None = None

    def needs(self, bars: Bars) -> Needs:
        """What the host must fetch for it."""
        drawn = self.indicator if self.problem is None else None
        return {} if drawn is None else drawn.needs(bars, self.params)

    @property
    def runs_untrusted(self) -> bool:
        """Whether a script of a user's runs for it."""
        script = self.indicator if self.problem is None else None
        return isinstance(script, ScriptIndicator) and not script.trusted

    @property
    def looks_outside(self) -> bool:
        """Whether it may need more than what comes with the bars."""
        drawn = self.indicator if self.problem is None else None
        return drawn is not None and drawn.looks_outside(self.params)


@dataclass(frozen=True)
class Catalogue:
    """Every indicator one user can ask for.

    A script of the user's takes the place of the builtin or pact whose name it bears. `barred` are
    scripts that may not run, each with the reason. `others` are further names to suggest for an
    unknown one. `listed_by` is the command that lists all of them, shown in errors.
    """

    scripts: Mapping[str, Indicator] = field(default_factory=dict)
    barred: Mapping[str, Problem] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    listed_by: str = "chartpact.list_indicators()"

    def resolve(self, name: str) -> Indicator:
        """The indicator of that name or alias."""
        text = str(name)  # anything else than a text is an unknown name too
        indicator = self._find(text) or self._find(text.lower())
        if indicator is None:
            names = [alias for known in self.list() for alias in (known.name, *known.aliases)]
            hint = did_you_mean(text, (*names, *self.others), 3)
            hint = hint or f"{self.listed_by} lists them"
            raise IndicatorError(Problem("name", f"there is no indicator {name!r:.80}", hint))
        # An alias stands for a name, which a script of the user's may have taken.
        return indicator if indicator.name == text else self._find(indicator.name) or indicator

    def _find(self, name: str) -> Indicator | None:
        if name in self.barred:
            raise IndicatorError(self.barred[name])
        own = self.scripts.get(name) or indicators.by_any_name().get(name)
        if own is not None:
            return own
        if name in pacts.drawable():
            return pact(name)
        from chartpact.script import stock  # not needed where builtins are drawn

        known = stock.canonical(name)
        return None if known is None else scripted(known)

    def list(self) -> Sequence[Indicator]:
        """Every indicator by name, without builtins and pacts that a script replaces."""
        by_name: dict[str, Indicator] = {**shipped(), **self.scripts}
        return [by_name[name] for name in sorted(by_name)]

    def search(self, text: str) -> Sequence[Indicator]:
        """The indicators with every word of the text in their names or what is said about them.

        >>> [indicator.name for indicator in Catalogue().search("bands volume")]
        ['vwap_bands']
        """
        words = text.lower().split()
        return [known for known in self.list() if all(word in _words(known) for word in words)]

    def with_files(self, requests: Iterable[Request]) -> "Catalogue":
        """The same, and the script files that requests name, as in `./mine.star:n=5`.

        It is for the shell and for Python. A server plans without it: there a path is an unknown
        name.
        """
        scripts, barred = dict(self.scripts), dict(self.barred)
        for path in {request.name for request in requests if request.problem is None}:
            if path.endswith(".star"):  # no name of an indicator has a dot
                try:
                    scripts[path] = ScriptIndicator.read(path, Path(path).read_text("utf-8"))
                except Failure as failure:
                    barred[path] = failure.problem
                except (OSError, ValueError) as error:
                    barred[path] = Problem("value", f"{path}: {unreadable(Path(path), error)}")
        return replace(self, scripts=scripts, barred=barred)

    def plan(self, asked: Asked | Iterable[Asked]) -> tuple[Plan, ...]:
        """Each request parsed, its indicator found and its parameters resolved, or the problem.

        >>> [plan.id for plan in Catalogue().plan(["rsi", "rsi:length=7", "rsi"])]
        ['rsi', 'rsi:period=7', 'rsi#2']
        """
        plans: dict[str, Plan] = {}
        for plan in map(self._plan, parse_requests(asked)):
            numbered = (f"{plan.id}#{number}" for number in itertools.count(2))
            free = next(id for id in itertools.chain([plan.id], numbered) if id not in plans)
            plans[free] = replace(plan, id=free)
        return tuple(plans.values())

    def _plan(self, request: Request) -> Plan:
        indicator, name, problem = None, request.name, request.problem
        given = request.given
        if problem is None:
            try:
                indicator = self.resolve(request.name)
                name = indicator.name
                given = _with_first(request, indicator)
                _check_names(given, indicator)
                values = resolve_params(indicator.params, given, name)
                return Plan(make_id(name, indicator.params, values), name, values, indicator)
            except Failure as failure:
                problem = failure.problem
        given = echo(given, indicator.params if indicator else ())
        return Plan(format_request(name, given), name, given, indicator, problem)


def _with_first(request: Request, indicator: Indicator) -> Mapping[str, Any]:
    """What is given, with the value that has no key under the name of the first parameter."""
    if request.first is None:
        return request.given
    if not indicator.params:
        message = f"{indicator.name} takes no parameters, and {request.first!r:.80} is given"
        raise IndicatorError(Problem("name", message, f"write {indicator.name}"))
    first = indicator.params[0]
    if any(request.first in (param.name, *param.aliases) for param in indicator.params):
        message = f"{indicator.name}: {request.first!r} is given without a value"
        hint = f"write {indicator.name}:{request.first}=VALUE"
        raise IndicatorError(Problem("syntax", message, hint))
    if any(name in request.given for name in (first.name, *first.aliases)):
        message = f"{indicator.name}: {first.name!r} is given twice, once without its name"
        raise IndicatorError(Problem("value", message, f"give {first.name!r} once"))
    return {first.name: request.first, **request.given}


def _check_names(given: Mapping[str, Any], indicator: Indicator) -> None:
    """Refuses `ema:fast=8` with the names of ema_stack and ema_trend, which may be meant."""
    known = {name for param in indicator.params for name in (param.name, *param.aliases)}
    unknown = [key for key in given if key not in known]
    others = unknown and [name for name in shipped() if name.startswith(f"{indicator.name}_")]
    if others and isinstance(indicator, ScriptIndicator):
        message = f"{indicator.name} has no parameter {unknown[0]!r:.80}"
        takes = ", ".join(param.name for param in indicator.params)
        hint = f"it takes {takes}; did you mean {' or '.join(others)}?"
        raise IndicatorError(Problem("name", message, hint, details={"parameter": unknown[0]}))


def parse_requests(asked: Asked | Iterable[Asked]) -> Sequence[Request]:
    """Each request parsed; one alone is a list of one."""
    requests = [asked] if isinstance(asked, str | Mapping | Request) else asked
    return [Request.parse(request) for request in requests]


def list_indicators() -> Sequence[Indicator]:
    """Every indicator that comes with the package, by name."""
    return Catalogue().list()
