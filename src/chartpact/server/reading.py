"""Large bodies, read in a worker: what reaches the event loop is small, or texts of scripts.

To make values of megabytes of JSON takes long enough for everybody else to notice. So a worker does
it first, takes out the bars that were handed over inline, and refuses what nobody needs.
"""

import gc
import json
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from chartpact.bars import Bars, BarsError
from chartpact.server.jobs import inline_bars
from chartpact.server.shapes import InlineBars

SMALL_BYTES = 32_768  # of a body that is read where it arrives
MOST_VALUES = 20_000  # besides those of bars
MOST_BYTES = 6 * 2**20  # likewise: a whole library, as JSON
BARS = "inline_bars"
LARGEST = 2**64
SCRIPT = "source"
NO_BARS = dict.fromkeys(("time", "open", "high", "low", "close"), ())
ASIDE = (BARS, "indicators", "params_schema")  # which some clients send as JSON in a text


class Unreadable(ValueError):
    """The body goes no further; `kind` is value or size."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True)
class Read:
    """A body that is soon read again, and the bars that were in it, or what is wrong with them."""

    body: bytes
    bars: Bars | str | None = None


def read(body: bytes, *, mcp: bool) -> Read:
    """What is in a large body; raises Unreadable."""
    gc.disable()  # a million values are made and thrown away: nothing is to be found among them
    try:
        return _read(body, mcp)
    finally:
        gc.enable()


def _read(body: bytes, mcp: bool) -> Read:
    try:
        message = from_json(body)
    except ValueError as error:
        if mcp:
            return Read(b"{")  # is not JSON either, and is answered as the protocol has it
        raise Unreadable("value", f"the body is not JSON: {error}") from None
    if mcp and not _is_call(message):
        return Read(b"[]")  # is none either
    asked = message["params"].get("arguments") if mcp else message
    asked = asked if isinstance(asked, dict) else {}
    if mcp:
        _unwrap(asked)
    bars = None
    if isinstance(asked.get(BARS), dict):
        bars = _bars(asked[BARS])
        asked[BARS] = NO_BARS
    _check(message, asked.get(SCRIPT) or "" if mcp else None)
    lean = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    if len(lean) > MOST_BYTES:
        raise Unreadable(
            "size", f"the body has {len(lean)} bytes without bars: {MOST_BYTES} will do"
        )
    return Read(lean, bars)


def _is_call(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params"), dict)
    )


def _unwrap(arguments: dict[str, Any]) -> None:
    """Values for the texts that hold them, as the SDK would read them."""
    for name in ASIDE:
        text = arguments.get(name)
        if isinstance(text, str):
            try:
                value = from_json(text)
            except ValueError:
                continue
            if isinstance(value, list | dict):
                arguments[name] = value


def _bars(given: dict[str, Any]) -> Bars | str:
    try:
        return inline_bars(InlineBars.model_validate(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(each) for each in (BARS, *first["loc"]))
        return f"{place:.120}: {first['msg']}"
    except BarsError as error:
        return str(error)


def _check(message: Any, script: str | None) -> None:
    """Refuses more values than any call needs, and such as take long to read or to repeat.

    Only scripts may be long: the one that is given, or else all that go by the name of one.
    """
    room = MOST_VALUES
    waiting: list[tuple[str, Any]] = [("", message)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list | dict):
            room -= len(value)
            if room < 0:
                raise Unreadable(
                    "size", f"the body has more than {MOST_VALUES} values besides bars"
                )
            named = value.items() if isinstance(value, dict) else ((name, each) for each in value)
            waiting.extend(named)
        elif isinstance(value, int) and abs(value) > LARGEST:
            raise Unreadable("value", f"{name!r:.80}: a number of more than 64 bits")
        may_be_long = name == SCRIPT if script is None else value is script
        text = value if isinstance(value, str) and not may_be_long else ""
        if max(len(name), len(text)) > SMALL_BYTES:
            raise Unreadable("size", f"{name!r:.80}: a text of more than {SMALL_BYTES} letters")
