"""The TradingView charts that an operator describes in CHARTPACT_TRADINGVIEW.

    desk=http://127.0.0.1:9222?users=ann,bob; wall=http://127.0.0.1:9223?users=all&tab=NQ

Each entry is NAME=URL?users=…, entries are separated by `;`. A chart is granted to the users that
are listed, or to all; `tab` names one of several tabs.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from chartpact.bars.load import SOURCE_NAME
from chartpact.problem import Failure
from chartpact.sources.errors import Misconfigured
from chartpact.sources.tradingview.cdp import Endpoint
from chartpact.sources.tradingview.page import CdpSource

VARIABLE = "CHARTPACT_TRADINGVIEW"
ALL = "all"


@dataclass(frozen=True)
class GrantedChart:
    """A chart on TradingView, and who may read it."""

    name: str
    url: str
    users: frozenset[str]
    tab: str | None = None
    remote: bool = False

    def allows(self, user: str) -> bool:
        return ALL in self.users or user in self.users

    def open(self) -> CdpSource:
        return CdpSource(self.url, self.tab, remote=self.remote)


def parse_grants(text: str) -> tuple[GrantedChart, ...]:
    """The charts that a text describes; raises Misconfigured, and opens nothing."""
    charts: dict[str, GrantedChart] = {}
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        chart = _parse_entry(entry)
        if chart.name in charts:
            raise Misconfigured(f"{VARIABLE}: there are two charts called {chart.name!r}")
        charts[chart.name] = chart
    return tuple(charts.values())


def from_environment(environ: Mapping[str, str] = os.environ) -> tuple[GrantedChart, ...]:
    """The charts that CHARTPACT_TRADINGVIEW describes."""
    return parse_grants(environ.get(VARIABLE, ""))


def _parse_entry(entry: str) -> GrantedChart:
    name, sign, address = (part.strip() for part in entry.partition("="))
    url, _, query = address.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    users = frozenset(filter(None, (user.strip() for user in options.pop("users", "").split(","))))
    remote = options.pop("remote", "no")
    tab = options.pop("tab", None)
    if not sign or not SOURCE_NAME.fullmatch(name):
        raise _misconfigured(entry, "an entry is NAME=URL?users=ann,bob")
    if not users:
        raise _misconfigured(entry, "say who may read it: ?users=ann,bob or ?users=all")
    if options or remote not in ("no", "yes"):
        raise _misconfigured(entry, "the options are users, tab and remote=yes")
    try:
        Endpoint.parse(url, remote == "yes")
    except Failure as failure:
        raise _misconfigured(entry, str(failure)) from None
    return GrantedChart(name, url, users, tab, remote == "yes")


def _misconfigured(entry: str, why: str) -> Misconfigured:
    return Misconfigured(f"{VARIABLE}: {entry!r:.120}: {why}")
