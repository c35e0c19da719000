"""The TradingView charts that an operator describes in CHARTPACT_TRADINGVIEW.

    desk=http://127.0.0.1:9222?users=ann,bob; wall=http://127.0.0.1:9223?users=all&tab=NQ
    stock=mcp:node /opt/tradingview-mcp/src/server.js?users=ann

Each entry is NAME=URL?users=…, entries are separated by `;`. A chart is granted to the users that
are listed, or to all; `tab` names one of several tabs. After `mcp:` stands the command of a
TradingView MCP server, in place of the address of a debugging port.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from chartpact.bars.loading import SOURCE_NAME
from chartpact.problem import Failure
from chartpact.snapshot import SnapshotSource
from chartpact.sources.configuration import parse_entries
from chartpact.sources.errors import Misconfigured
from chartpact.sources.tradingview.page import CdpSource

VARIABLE = "CHARTPACT_TRADINGVIEW"
ALL = "all"
COMMAND = "mcp:"
COMMAND_S = 20.0  # for a reply; the stock server takes 15.5 to say that TradingView is not there


@dataclass(frozen=True)
class GrantedChart:
    """A chart on TradingView, and who may read it."""

    name: str
    address: str  # of a debugging port, or `mcp:` and a command
    users: frozenset[str]
    tab: str | None = None
    remote: bool = False

    def allows(self, user: str) -> bool:
        return ALL in self.users or user in self.users

    def open(self) -> SnapshotSource:
        """The chart as a source; nothing is connected or started before it is read."""
        if self.address.startswith(COMMAND):
            from chartpact.sources.tradingview.mcp_client import McpSource  # the SDK is slow

            return McpSource(self.address.removeprefix(COMMAND), COMMAND_S)
        return CdpSource(self.address, self.tab, remote=self.remote)


def parse_grants(text: str) -> tuple[GrantedChart, ...]:
    """The charts that a text describes; raises Misconfigured, and opens nothing."""
    return parse_entries(text, VARIABLE, "charts", _parse_entry)


def from_environment(environ: Mapping[str, str] = os.environ) -> tuple[GrantedChart, ...]:
    """The charts that CHARTPACT_TRADINGVIEW describes."""
    return parse_grants(environ.get(VARIABLE, ""))


def _parse_entry(entry: str) -> GrantedChart:
    name, sign, source = (part.strip() for part in entry.partition("="))
    address, _, query = source.rpartition("?") if "?" in source else (source, "", "")
    options = dict(parse_qsl(query, keep_blank_values=True))
    users = frozenset(filter(None, (user.strip() for user in options.pop("users", "").split(","))))
    remote = options.pop("remote", "no")
    tab = options.pop("tab", None)
    if not sign or not SOURCE_NAME.fullmatch(name):
        raise _misconfigured(entry, "an entry is NAME=URL?users=ann,bob")
    command = address.startswith(COMMAND)
    if not users:
        raise _misconfigured(entry, "say who may read it: ?users=ann,bob or ?users=all")
    if options or remote not in ("no", "yes") or (command and (tab or remote == "yes")):
        raise _misconfigured(entry, "the options are users and, for a URL, tab and remote=yes")
    chart = GrantedChart(name, address, users, tab, remote == "yes")
    try:
        chart.open()
    except Failure as failure:
        raise _misconfigured(entry, str(failure)) from None
    return chart


def _misconfigured(entry: str, why: str) -> Misconfigured:
    return Misconfigured(f"{VARIABLE}: {entry!r:.120}: {why}")
