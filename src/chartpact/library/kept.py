"""Kept scripts as indicators, offered to the one door that indicators come through."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from chartpact import indicators
from chartpact.fetching import SAMPLES, Fetch
from chartpact.indicators import Indicator, IndicatorError, Param
from chartpact.library.scripts import Script
from chartpact.problem import Problem
from chartpact.scripted import ScriptIndicator


def kept_indicator(script: Script, fetch: Fetch = SAMPLES) -> ScriptIndicator:
    """A script from the library as an indicator, by what was noted when it was registered."""
    try:
        params = tuple(Param.from_json(each) for each in script.params)
    except (TypeError, KeyError):  # noted by another version of the program
        params = ()
    return ScriptIndicator(
        script.name, script.source, params, script.meta, user=script.user, fetch=fetch
    )


class Held:
    """The scripts of one user that are at hand while one piece of work is done."""

    def __init__(self) -> None:
        self._user: str | None = None
        self._scripts: dict[str, Script] = {}
        self._fetch = SAMPLES
        self._barred: Sequence[str] = ()
        self._others: Sequence[str] = ()

    @contextmanager
    def holding(
        self,
        user: str,
        scripts: Iterable[Script],
        fetch: Fetch,
        barred: Sequence[str] = (),
        others: Sequence[str] = (),
    ) -> Iterator[None]:
        """Offers the scripts meanwhile; `barred` are names of others that may not run.

        `others` are names that the user could have meant, of scripts that are not at hand.
        """
        self._user, self._scripts = user, {script.name: script for script in scripts}
        self._fetch, self._barred, self._others = fetch, barred, others
        try:
            yield
        finally:
            self._user, self._scripts, self._barred, self._others = None, {}, (), ()

    def find(self, name: str, user: str | None) -> Indicator | None:
        if user is None or user != self._user:
            return None
        if name in self._barred:
            builtin = indicators.canonical(name) is not None
            raise IndicatorError(
                Problem(
                    "forbidden",
                    f"your script {name!r} does not run: scripts are switched off for you here",
                    ("delete it to draw the builtin of that name, or " if builtin else "")
                    + "ask the operator, who decides by CHARTPACT_SCRIPTS",
                )
            )
        if name not in self._scripts:
            return None
        return kept_indicator(self._scripts[name], self._fetch)

    def list(self, user: str | None) -> list[Indicator]:
        if user is None or user != self._user:
            return []
        held = [kept_indicator(script, self._fetch) for script in self._scripts.values()]
        return [*held, *(ScriptIndicator(name, "", ()) for name in self._others)]


@cache
def held() -> Held:
    """The one of this process, which is asked before pacts and builtins."""
    provider = Held()
    indicators.provide(provider)
    return provider
