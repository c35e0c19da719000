"""The sources that an operator describes in CHARTPACT_SOURCES.

    data=folder:/srv/bars?tz=America/New_York; binance=ccxt:binance?history=2000; yahoo=yfinance

Each entry is NAME=KIND:WHAT?OPTION=VALUE&…, entries are separated by `;`, and a `;` `?` `&` or `%`
that belongs to a path or a value is written as in URLs: `%3B`.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

from chartpact.bars.loading import SOURCE_NAME
from chartpact.bars.options import OF_CONTENT, LoadOptions, check_options
from chartpact.cache import Cache
from chartpact.clock.timeframe import Timeframe
from chartpact.options import read_table
from chartpact.sources.directory import SAMPLES, Directory, Source
from chartpact.sources.errors import Misconfigured, near
from chartpact.sources.exchange import Exchange
from chartpact.sources.folder import Folder
from chartpact.sources.remote import Deadlines
from chartpact.sources.yahoo import Yahoo

VARIABLE = "CHARTPACT_SOURCES"
RESERVED = (SAMPLES, "mine")


@dataclass(frozen=True)
class SourceConfig:
    """One source as it is described; unlike the source itself, it can go to other processes."""

    name: str
    kind: str
    what: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    def open(self) -> Source:
        return KINDS[self.kind].open(self.name, self.what, dict(self.options))

    @property
    def missing_extra(self) -> str | None:
        """The extra that must be installed before it can deliver anything."""
        module, extra = KINDS[self.kind].extra or ("", "")
        return extra if module and find_spec(module) is None else None


SourceConfigs = tuple[SourceConfig, ...]


class Named(Protocol):
    @property
    def name(self) -> str: ...


Entry = TypeVar("Entry", bound=Named)


def parse_entries(
    text: str, variable: str, plural: str, parse_entry: Callable[[str], Entry]
) -> tuple[Entry, ...]:
    """The entries of a variable, which are separated by `;` and have different names."""
    entries: dict[str, Entry] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        entry = parse_entry(part)
        if entry.name in entries:
            raise Misconfigured(f"{variable}: there are two {plural} called {entry.name!r}")
        entries[entry.name] = entry
    return tuple(entries.values())


def parse_sources(text: str) -> SourceConfigs:
    """The sources that a text describes; raises Misconfigured, and opens nothing."""
    return parse_entries(text, VARIABLE, "sources", _parse_entry)


def from_environment(environ: Mapping[str, str] = os.environ) -> SourceConfigs:
    """The sources that CHARTPACT_SOURCES describes."""
    return parse_sources(environ.get(VARIABLE, ""))


_directories: Cache[SourceConfigs, Directory] = Cache(8)


def open_directory(configs: SourceConfigs) -> Directory:
    """The directory of these sources, which keep their connections and answers in this process."""
    return _directories.get_or_make(configs, lambda: Directory(config.open() for config in configs))


def explain_absence(symbol: str) -> str:
    """How to configure the source of a symbol, for a user who is the operator too.

    >>> explain_absence("ES@data")
    'CHARTPACT_SOURCES describes it: data=ccxt:data for an exchange, data=folder:/path for files'
    """
    name = symbol.rpartition("@")[2]
    if name in ("yahoo", "yfinance"):
        missing = SourceConfig(name, "yfinance").missing_extra
        install = f", and install 'chartpact[{missing}]'" if missing else ""
        return f'set {VARIABLE}="{name}=yfinance"{install}'
    return (
        f"{VARIABLE} describes it: {name}=ccxt:{name.lower()} for an exchange, "
        f"{name}=folder:/path for files"
    )


# ------------------------------------------------------------------------------------------ options


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text):
        raise ValueError("a number of seconds")
    return float(text)


def _positive_seconds(text: str) -> float:
    if not 0 < _seconds(text) <= 600:
        raise ValueError("a number of seconds, up to 600")
    return float(text)


def _load_option(name: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        options = check_options({name: read_table(LoadOptions)[name].read(text)})
        return dict(options)[name]

    return read


def _symbols(text: str) -> tuple[str, ...]:
    symbols = tuple(filter(None, (part.strip() for part in text.split(","))))
    if not symbols:
        raise ValueError("symbols, separated by commas")
    return symbols


_FOLDER: Mapping[str, Callable[[str], Any]] = {
    name: _load_option(name) for name in (*OF_CONTENT, "market")
}
_ONLINE: Mapping[str, Callable[[str], Any]] = {
    "timeframe": lambda text: str(Timeframe.parse(text)),
    "history": _whole(10, 20_000),
    "symbols": _symbols,
    "timeout": _positive_seconds,
    "deadline": _positive_seconds,
    "cache": _seconds,
}


# -------------------------------------------------------------------------------------------- kinds


@dataclass(frozen=True)
class Kind:
    """A kind of source: what stands after its colon, its options, and how one is opened."""

    what: str  # in words; empty: nothing
    options: Mapping[str, Callable[[str], Any]]
    open: Callable[[str, str, dict[str, Any]], Source]
    extra: tuple[str, str] | None = None  # a module, and the extra that installs it


def _open_folder(name: str, what: str, options: dict[str, Any]) -> Source:
    return Folder(name, Path(what), **options)


def _open_exchange(name: str, what: str, options: dict[str, Any]) -> Source:
    return Exchange(name, what, **_with_deadlines(options))


def _open_yahoo(name: str, _: str, options: dict[str, Any]) -> Source:
    return Yahoo(name, **_with_deadlines(options))


def _with_deadlines(options: dict[str, Any]) -> dict[str, Any]:
    """The options with those about time as one value."""
    names = {"timeout": "request_s", "deadline": "answer_s", "cache": "keep_s"}
    times = {names[key]: value for key, value in options.items() if key in names}
    rest = {key: value for key, value in options.items() if key not in names}
    return {**rest, "deadlines": Deadlines(**times)}


KINDS: Mapping[str, Kind] = {
    "folder": Kind("the path of a folder", _FOLDER, _open_folder),
    "ccxt": Kind("the name of an exchange in ccxt", _ONLINE, _open_exchange, ("ccxt", "exchanges")),
    "yfinance": Kind("", _ONLINE, _open_yahoo, ("yfinance", "yahoo")),
}


def _parse_entry(text: str) -> SourceConfig:
    def wrong(reason: str) -> Misconfigured:
        return Misconfigured(f"{VARIABLE}: {text!r:.120}: {reason}")

    name, equals, rest = (part.strip() for part in text.partition("="))
    if not equals or not SOURCE_NAME.fullmatch(name):
        raise wrong("write NAME=KIND:WHAT, as in data=folder:/srv/bars or binance=ccxt:binance")
    if name in RESERVED:
        raise wrong(f"{name!r} is taken: choose another name")
    address, _, query = rest.partition("?")
    word, _, what = address.partition(":")
    if word not in KINDS:
        raise wrong(f"there is no kind {word!r:.80} among {', '.join(KINDS)}{near(word, KINDS)}")
    kind, what = KINDS[word], unquote(what.strip())
    if bool(kind.what) != bool(what):
        raise wrong(f"{word}: is followed by {kind.what}" if kind.what else f"{word} stands alone")
    if word == "folder":
        what = str(Path(what).expanduser().absolute())
        if not Path(what).is_dir():
            raise wrong("there is no such folder")
    if word == "ccxt" and not re.fullmatch(r"[a-z][a-z0-9_]*", what):
        raise wrong(f"{what!r:.80} is no name of an exchange in ccxt, such as binance")
    options = {}
    for part in filter(None, query.split("&")):
        key, _, value = part.partition("=")
        if key not in kind.options:
            raise wrong(f"{word} has no option {key!r:.80}; it has {', '.join(kind.options)}")
        try:
            options[key] = kind.options[key](unquote(value))
        except ValueError as error:
            raise wrong(f"{key}: {error}") from None
    return SourceConfig(name, word, what, tuple(sorted(options.items())))
