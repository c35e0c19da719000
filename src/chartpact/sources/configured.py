"""Which sources there are, as the operator wrote them down in CHARTPACT_SOURCES.

    data=folder:/srv/bars?tz=America/New_York; binance=ccxt:binance?history=2000; yahoo=yfinance

Each entry is NAME=KIND:WHAT?OPTION=VALUE&…, entries are separated by `;`, and a `;` `?` `&` or `%`
that belongs to a path or a value is written as in URLs: `%3B`.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from chartpact.bars.load import SOURCE_NAME
from chartpact.clock import zones
from chartpact.clock.timeframe import Timeframe
from chartpact.sources.catalog import SAMPLES, Catalog, Source
from chartpact.sources.errors import Misconfigured, near
from chartpact.sources.exchange import Exchange
from chartpact.sources.folder import Folder
from chartpact.sources.remote import Patience
from chartpact.sources.yahoo import Yahoo

VARIABLE = "CHARTPACT_SOURCES"
RESERVED = (SAMPLES, "mine")


@dataclass(frozen=True)
class Described:
    """One source as it is written down; unlike the source itself, it can go to other processes."""

    name: str
    kind: str
    what: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    def source(self) -> Source:
        return KINDS[self.kind].make(self.name, self.what, dict(self.options))

    @property
    def lacks(self) -> str | None:
        """The extra that must be installed before it can deliver anything."""
        module, extra = KINDS[self.kind].extra or ("", "")
        return extra if module and find_spec(module) is None else None


Descriptions = tuple[Described, ...]


def described(text: str) -> Descriptions:
    """The sources that a text describes; raises Misconfigured, asks nobody and imports nothing."""
    found: dict[str, Described] = {}
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        each = _entry(entry)
        if each.name in found:
            raise Misconfigured(f"{VARIABLE}: there are two sources called {each.name!r}")
        found[each.name] = each
    return tuple(found.values())


def from_environment(environ: Mapping[str, str] = os.environ) -> Descriptions:
    """The sources that CHARTPACT_SOURCES describes."""
    return described(environ.get(VARIABLE, ""))


@lru_cache(maxsize=8)
def catalog(descriptions: Descriptions) -> Catalog:
    """All described sources; the same ones each time, so that what they remember is of use."""
    return Catalog(each.source() for each in descriptions)


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


def _stamp(text: str) -> str:
    if text not in ("open", "close"):
        raise ValueError("open or close")
    return text


def _zone(text: str) -> str:
    return str(zones.zone(text))


def _timeframe(text: str) -> str:
    return str(Timeframe.parse(text))


def _symbols(text: str) -> tuple[str, ...]:
    found = tuple(filter(None, (each.strip() for each in text.split(","))))
    if not found:
        raise ValueError("symbols, separated by commas")
    return found


_REMOTE: Mapping[str, Callable[[str], Any]] = {
    "timeframe": _timeframe,
    "history": _whole(10, 20_000),
    "symbols": _symbols,
    "timeout": _positive_seconds,
    "deadline": _positive_seconds,
    "cache": _seconds,
}


# -------------------------------------------------------------------------------------------- kinds


@dataclass(frozen=True)
class Kind:
    """A kind of source: what stands after its colon, its options, and how one is made."""

    what: str  # in words; empty: nothing
    options: Mapping[str, Callable[[str], Any]]
    make: Callable[[str, str, dict[str, Any]], Source]
    extra: tuple[str, str] | None = None  # a module, and the extra that installs it


def _folder(name: str, what: str, options: dict[str, Any]) -> Source:
    return Folder(name, Path(what), **options)


def _exchange(name: str, what: str, options: dict[str, Any]) -> Source:
    return Exchange(name, what, **_patient(options))


def _yahoo(name: str, _: str, options: dict[str, Any]) -> Source:
    return Yahoo(name, **_patient(options))


def _patient(options: dict[str, Any]) -> dict[str, Any]:
    names = {"timeout": "request_s", "deadline": "answer_s", "cache": "keep_s"}
    given = {names[key]: value for key, value in options.items() if key in names}
    rest = {key: value for key, value in options.items() if key not in names}
    return {**rest, "patience": Patience(**given)}


KINDS: Mapping[str, Kind] = {
    "folder": Kind("the path of a folder", {"tz": _zone, "stamp": _stamp}, _folder),
    "ccxt": Kind("the name of an exchange in ccxt", _REMOTE, _exchange, ("ccxt", "exchanges")),
    "yfinance": Kind("", _REMOTE, _yahoo, ("yfinance", "yahoo")),
}


def _entry(text: str) -> Described:
    def wrong(why: str) -> Misconfigured:
        return Misconfigured(f"{VARIABLE}: {text!r:.120}: {why}")

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
        needs = f"{word}: is followed by {kind.what}" if kind.what else f"{word} stands alone"
        raise wrong(needs)
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
    return Described(name, word, what, tuple(sorted(options.items())))
