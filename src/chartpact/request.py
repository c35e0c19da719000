"""How an indicator is asked for: `rsi:period=7`, `rsi:7`, or `{"name": "rsi", "period": 7}`."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chartpact.params import Param
from chartpact.problem import Problem

# Blanks around a value are stripped afterwards: a pattern that could match them in several ways
# would backtrack through all of them.
_PAIR = re.compile(
    r'\s*([A-Za-z][A-Za-z0-9_]*)\s*=(\s*"(?:[^"\\]|\\.)*"\s*|[^",:]*)(,|\Z)', re.DOTALL
)
_FIRST = re.compile(r'(\s*"(?:[^"\\]|\\.)*"\s*|[^",:=]+)(,|\Z)', re.DOTALL)
FORM = "write NAME or NAME:key=value,key=value, with values that hold , or : in double quotes"
_PLAIN = re.compile(r'[^",:\\\s]+')


@dataclass(frozen=True)
class Request:
    """A name and the parameters given with it, not checked yet; or why it cannot be read.

    `first` is a value without a key, as in `rsi:7`: that of the indicator's first parameter.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    first: str | None = None

    @classmethod
    def parse(cls, asked: "Asked") -> "Request":
        """The request in a text or a mapping.

        >>> Request.parse('session_vp:session="0930-1600",bins=24').given["session"]
        '0930-1600'
        """
        if isinstance(asked, Request):
            return asked
        try:
            if isinstance(asked, Mapping):
                return _parse_mapping(asked)
            return _parse_text(asked)
        except ValueError as reason:
            message = f"{asked!r:.120} does not ask for an indicator: {reason}"
            return cls(f"{asked!s:.120}", problem=Problem("syntax", message, FORM))


Asked = str | Mapping[str, Any] | Request


def _parse_mapping(asked: Mapping[str, Any]) -> Request:
    name = asked.get("name")
    if not isinstance(name, str) or not all(isinstance(key, str) for key in asked):
        raise ValueError("a mapping has a 'name', and texts for keys")
    return Request(name, {key: value for key, value in asked.items() if key != "name"})


def _parse_text(asked: str) -> Request:
    if not isinstance(asked, str):
        raise ValueError("it is neither a text nor a mapping")
    name, colon, pairs = asked.partition(":")
    if pairs.startswith("/"):  # file:/x is a name that nobody has
        return Request(asked.strip())
    if not name.strip() or (colon and not pairs.strip()):
        raise ValueError("a name is followed by ':' and key=value, …")
    first = _FIRST.match(pairs)
    if first is None:
        return Request(name.strip(), dict(_parse_pairs(pairs)))
    if first[2] == "," and first.end() == len(pairs):
        raise ValueError(f"cannot read {pairs!r} as key=value")
    given = dict(_parse_pairs(pairs[first.end() :]))
    return Request(name.strip(), given, first=_unquote(first[1].strip()))


def _unquote(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def _parse_pairs(pairs: str) -> Iterable[tuple[str, str]]:
    seen: set[str] = set()
    at = 0
    while at < len(pairs):
        match = _PAIR.match(pairs, at)
        if match is None or (match[3] == "," and match.end() == len(pairs)):
            raise ValueError(f"cannot read {pairs[at:]!r} as key=value")
        key, value = match[1], match[2].strip()
        if key in seen:
            raise ValueError(f"{key!r} is given twice")
        seen.add(key)
        yield key, _unquote(value)
        at = match.end()


def make_id(name: str, params: Sequence[Param], values: Mapping[str, Any]) -> str:
    """The canonical id: the name and the parameters that differ from their default, sorted.

    >>> make_id("rsi", [Param("period", "int", 14)], {"period": 7})
    'rsi:period=7'
    """
    changed = {p.name: values[p.name] for p in params if values[p.name] != p.default}
    return format_request(name, changed)


def echo(given: Mapping[str, Any], params: Sequence[Param] = ()) -> dict[str, Any]:
    """The parameters of a refused request, by their canonical names and fit for JSON.

    >>> echo({"length": float("nan")}, [Param("period", "int", 14, aliases=("length",))])
    {'period': 'nan'}
    """
    canonical = {alias: p.name for p in params for alias in p.aliases if p.name not in given}
    return {canonical.get(key, key): _json_value(value) for key, value in given.items()}


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else f"{value!s:.120}"


def format_request(name: str, given: Mapping[str, Any]) -> str:
    """The text that asks for this indicator with these parameters.

    >>> format_request("session_vp", {"bins": 12, "day_roll": "17:00 UTC"})
    'session_vp:bins=12,day_roll="17:00 UTC"'
    """
    pairs = ",".join(f"{key}={_format_value(given[key])}" for key in sorted(given))
    return f"{name}:{pairs}" if pairs else name


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
