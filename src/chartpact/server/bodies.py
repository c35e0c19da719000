"""Large request bodies, read in a worker: only what is small, and scripts, reaches the event loop.

Parsing megabytes of JSON takes long enough to delay everybody. So a worker parses them first, takes
out inline bars, and refuses what no call needs.
"""

import gc
import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from chartpact.bars import Bars, BarsError
from chartpact.prices import OHLC
from chartpact.problem import Failure, Problem
from chartpact.server.jobs import read_inline_bars
from chartpact.server.shapes import InlineBars

SMALL_BYTES = 32_768  # of a body that is read where it arrives
MOST_VALUES = 20_000  # besides those of bars
MOST_BYTES = 6 * 2**20  # besides those of bars: a whole library, as JSON
BARS = "inline_bars"
LARGEST = 2**64
SCRIPT = "source"
NO_BARS = dict.fromkeys(("time", *OHLC), ())
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
JSON_IN_TEXT = (BARS, "indicators", "params_schema")  # some clients send them as JSON in a text


class Unreadable(Failure):
    """The body is refused; the kind is value or size."""


@dataclass(frozen=True)
class LeanBody:
    """A body without its inline bars, and the bars, or what is wrong with them."""

    body: bytes
    bars: Bars | str | None = None


def read(body: bytes, *, mcp: bool) -> LeanBody:
    """The content of a large body; raises Unreadable."""
    gc.disable()  # a million short-lived values hold no cycles worth searching for
    try:
        return _read(body, mcp)
    finally:
        gc.enable()


def check_escapes(body: bytes) -> None:
    """Refuses half of a surrogate pair in a small body, which Python's own parser lets through."""
    if _SURROGATE.search(body):
        try:
            from_json(body)
        except ValueError as error:
            doubt = "the body is not JSON, or a text in it holds half of a surrogate pair"
            raise _unreadable("value", f"{doubt}: {error}") from None


def _read(body: bytes, mcp: bool) -> LeanBody:
    try:
        message = from_json(body)
    except ValueError as error:
        if mcp:
            return LeanBody(b"{")  # no JSON either: the protocol has its own answer to that
        raise _unreadable("value", f"the body is not JSON: {error}") from None
    if mcp and not _is_call(message):
        return LeanBody(b"[]")  # no call either
    arguments = message["params"].get("arguments") if mcp else message
    arguments = arguments if isinstance(arguments, dict) else {}
    if mcp:
        _parse_texts(arguments)
    bars = None
    if isinstance(arguments.get(BARS), dict):
        bars = _read_bars(arguments[BARS])
        arguments[BARS] = NO_BARS
    _check(message, arguments.get(SCRIPT) or "" if mcp else None)
    lean = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    if len(lean) > MOST_BYTES:
        message = f"the body has {len(lean)} bytes without bars: {MOST_BYTES} will do"
        raise _unreadable("size", message)
    return LeanBody(lean, bars)


def _unreadable(kind: str, message: str) -> Unreadable:
    return Unreadable(Problem(kind, message))


def _is_call(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params"), dict)
    )


def _parse_texts(arguments: dict[str, Any]) -> None:
    """Puts values in the place of texts that hold them as JSON, as the SDK would."""
    for name in JSON_IN_TEXT:
        text = arguments.get(name)
        if isinstance(text, str):
            try:
                value = from_json(text)
            except ValueError:
                continue
            if isinstance(value, list | dict):
                arguments[name] = value


def _read_bars(columns: dict[str, Any]) -> Bars | str:
    try:
        return read_inline_bars(InlineBars.model_validate(columns))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, (BARS, *first["loc"])))
        return f"{place:.120}: {first['msg']}"
    except BarsError as error:
        return str(error)


def _check(message: Any, script: str | None) -> None:
    """Refuses more values than any call needs, and values that take long to read or to repeat.

    Only scripts may be long: `script` itself, or without one every text that is called `source`.
    """
    room = MOST_VALUES
    waiting: list[tuple[str, Any]] = [("", message)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list | dict):
            room -= len(value)
            if room < 0:
                message = f"the body has more than {MOST_VALUES} values besides bars"
                raise _unreadable("size", message)
            items = value.items() if isinstance(value, dict) else ((name, item) for item in value)
            waiting.extend(items)
        elif isinstance(value, int) and abs(value) > LARGEST:
            raise _unreadable("value", f"{name!r:.80}: a number of more than 64 bits")
        may_be_long = name == SCRIPT if script is None else value is script
        text = value if isinstance(value, str) and not may_be_long else ""
        if max(len(name), len(text)) > SMALL_BYTES:
            raise _unreadable("size", f"{name!r:.80}: a text of more than {SMALL_BYTES} letters")
