"""The sources that an operator describes in CHARTPACT_SOURCES, and those of a user without it.

    data=folder:/srv/bars?tz=America/New_York; binance=ccxt:binance?history=2000; yahoo=yfinance

Each entry is NAME=KIND:WHAT?OPTION=VALUE&…, entries are separated by `;`, and a `;` `?` `&` or `%`
that belongs to a path or a value is written as in URLs: `%3B`.
"""

import os
import re
import sys
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
from chartpact.sources import alpaca, archive, oanda, plugin
from chartpact.sources.alpaca import Alpaca
from chartpact.sources.directory import SAMPLES, Directory, Source
from chartpact.sources.errors import Misconfigured, near
from chartpact.sources.exchange import Exchange
from chartpact.sources.folder import Folder
from chartpact.sources.oanda import Oanda
from chartpact.sources.plugin import PythonSource
from chartpact.sources.remote import Deadlines
from chartpact.sources.yahoo import Yahoo

VARIABLE = "CHARTPACT_SOURCES"
RESERVED = (SAMPLES, "mine")
DEFAULTS = "binance=ccxt:binance; yahoo=yfinance"  # of whoever is alone on their machine


@dataclass(frozen=True)
class SourceConfig:
    """One source as it is described; unlike the source itself, it can go to other processes."""

    name: str
    kind: str
    what: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    def open(self) -> Source:
        return KINDS[self.kind].open(self, dict(self.options))

    @property
    def missing_extra(self) -> str | None:
        """The extra that must be installed before it can deliver anything."""
        module, extra = KINDS[self.kind].extra or ("", "")
        return extra if module and find_spec(module) is None else None

    @property
    def missing_secrets(self) -> list[str]:
        """The variables that must be set before it can deliver anything."""
        return [name for name in KINDS[self.kind].secrets if not os.environ.get(name)]


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
    """The sources that CHARTPACT_SOURCES describes, for a server of other people's."""
    return parse_sources(environ.get(VARIABLE, ""))


def of_local_user(environ: Mapping[str, str] = os.environ) -> SourceConfigs:
    """The sources of a shell, of Python, of `mcp` and of `serve --no-auth`.

    Where CHARTPACT_SOURCES is not set, they are an exchange, Yahoo, and those of the packages that
    are installed for it.
    """
    if VARIABLE in environ:
        return from_environment(environ)
    defaults = parse_sources(DEFAULTS)
    taken = {*RESERVED, *(config.name for config in defaults)}
    further = (
        SourceConfig(name, "python", where)
        for name, where in sorted(plugin.installed().items())
        if SOURCE_NAME.fullmatch(name) and name not in taken
    )
    return (*defaults, *further)


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
    kind = {"yahoo": "yfinance"}.get(name, name)
    if kind in KINDS and not KINDS[kind].what:
        missing = SourceConfig(name, kind).missing_extra
        install = f", and install 'chartpact[{missing}]'" if missing else ""
        return f'set {VARIABLE}="{name}={kind}"{install}'
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


def _switch(text: str) -> bool:
    return _one_of("yes", "no")(text) == "yes"


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return read


def _symbols(text: str) -> tuple[str, ...]:
    symbols = tuple(filter(None, (part.strip() for part in text.split(","))))
    if not symbols:
        raise ValueError("symbols, separated by commas")
    return symbols


_FOLDER: Mapping[str, Callable[[str], Any]] = {
    name: _load_option(name) for name in (*OF_CONTENT, "market")
}


def _timeframes(text: str) -> tuple[str, ...]:
    return tuple(str(Timeframe.parse(part.strip())) for part in text.split(","))


def _address(text: str) -> str:
    if not re.fullmatch(r"https?://[A-Za-z0-9.\[\]:-]+(/[A-Za-z0-9._/-]*)?", text):
        raise ValueError("an http or https address")
    return text


_ONLINE: Mapping[str, Callable[[str], Any]] = {
    "timeframe": lambda text: str(Timeframe.parse(text)),
    "history": _whole(10, 20_000),
    "symbols": _symbols,
    "timeout": _positive_seconds,
    "deadline": _positive_seconds,
    "cache": _seconds,
    "keep": _switch,
}


# -------------------------------------------------------------------------------------------- kinds


@dataclass(frozen=True)
class SourceKind:
    """A kind of source: what stands after its colon, its options, and how one is opened."""

    what: str  # in words; empty: nothing
    options: Mapping[str, Callable[[str], Any]]
    open: Callable[[SourceConfig, dict[str, Any]], Source]
    extra: tuple[str, str] | None = None  # a module, and the extra that installs it
    secrets: tuple[str, ...] = ()  # variables of the environment


def _open_folder(config: SourceConfig, options: dict[str, Any]) -> Source:
    return Folder(config.name, Path(config.what), **options)


def _open_exchange(config: SourceConfig, options: dict[str, Any]) -> Source:
    return Exchange(config.name, config.what, **_online(config, options))


def _open_yahoo(config: SourceConfig, options: dict[str, Any]) -> Source:
    return Yahoo(config.name, **_online(config, options))


def _open_alpaca(config: SourceConfig, options: dict[str, Any]) -> Source:
    return Alpaca(config.name, **_online(config, options))


def _open_oanda(config: SourceConfig, options: dict[str, Any]) -> Source:
    return Oanda(config.name, **_online(config, options))


def _open_function(config: SourceConfig, options: dict[str, Any]) -> Source:
    return PythonSource(config.name, config.what, **_online(config, {"keep": False} | options))


def _online(config: SourceConfig, options: dict[str, Any]) -> dict[str, Any]:
    """The options with those about time as one value, and the archive of the service."""
    names = {"timeout": "request_s", "deadline": "answer_s", "cache": "keep_s"}
    times = {names[key]: value for key, value in options.items() if key in names}
    rest = {key: value for key, value in options.items() if key not in (*names, "keep")}
    home = archive.folder() if options.get("keep", True) else None
    # What these options say decides which bars there are; all others, how they are asked for.
    content = {key: rest[key] for key in ("feed", "account", "url") if key in rest}
    service = f"{config.kind}:{config.what}{content or ''}"
    kept = None if home is None else archive.Archive(home, service)
    return {**rest, "deadlines": Deadlines(**times), "archive": kept}


KINDS: Mapping[str, SourceKind] = {
    "folder": SourceKind("the path of a folder", _FOLDER, _open_folder),
    "ccxt": SourceKind(
        "the name of an exchange in ccxt", _ONLINE, _open_exchange, ("ccxt", "exchanges")
    ),
    "yfinance": SourceKind("", _ONLINE, _open_yahoo, ("yfinance", "yahoo")),
    "alpaca": SourceKind(
        "",
        {**_ONLINE, "feed": _one_of(*alpaca.FEEDS), "url": _address},
        _open_alpaca,
        secrets=tuple(alpaca.KEYS.values()),
    ),
    "oanda": SourceKind(
        "",
        {**_ONLINE, "account": _one_of(*oanda.URLS), "url": _address},
        _open_oanda,
        secrets=(oanda.VARIABLE,),
    ),
    "python": SourceKind(
        "package.module:function", {**_ONLINE, "timeframes": _timeframes}, _open_function
    ),
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
        installed = plugin.installed()
        if word not in installed:
            kinds = [*KINDS, *installed]
            raise wrong(
                f"there is no kind {word!r:.80} among {', '.join(kinds)}{near(word, kinds)}"
            )
        if what:
            raise wrong(f"{word} stands alone")
        word, what = "python", installed[word]
    kind, what = KINDS[word], unquote(what.strip())
    if bool(kind.what) != bool(what):
        raise wrong(f"{word}: is followed by {kind.what}" if kind.what else f"{word} stands alone")
    if word == "folder":
        what = str(Path(what).expanduser().absolute())
        if not Path(what).is_dir():
            raise wrong("there is no such folder")
    if word == "ccxt" and not re.fullmatch(r"[a-z][a-z0-9_]*", what):
        raise wrong(f"{what!r:.80} is no name of an exchange in ccxt, such as binance")
    if word == "python":
        if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", what):
            raise wrong(f"python: is followed by {kind.what}")
        package = what.partition(":")[0].partition(".")[0]
        if package not in sys.modules and find_spec(package) is None:
            raise wrong(f"there is no module {package!r} on Python's path")
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
