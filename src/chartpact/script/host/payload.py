"""`payload`: machine-readable state, written so that a contract can read it back."""

import json as json_text
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from chartpact.checks import MAX_WHOLE
from chartpact.script.errors import Fault
from chartpact.script.limits import OBJECT_TEXT_CHARS, VALUE_DEPTH
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import DICTS, LISTS, a_type, shown

_KEY = re.compile(r"[A-Z][A-Z0-9_]*")
NAMES = ("json", "label")


class Payloads:
    """The functions of one run, charged to its meter."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def json(self, values: Any) -> str:
        """A dict as a JSON object, compact, its keys in the order given."""
        if type(values) not in DICTS:
            raise Fault("type", f"payload.json takes a dict, not {a_type(values)}")
        plain = self._plain(values, 0)
        text = json_text.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return self._check_length(text)

    def label(self, values: Any, tag: Any = "SIGNAL") -> str:
        """A dict as TAG|KEY:VALUE|…; a value of None or na is left out."""
        if type(values) not in DICTS:
            raise Fault("type", f"payload.label takes a dict, not {a_type(values)}")
        if type(tag) is not str or not tag.strip() or "|" in tag:
            raise Fault("value", "a tag is a text without |")
        self._meter.charge(23 * len(values))
        parts = [tag]
        for key, value in values.items():
            if type(key) is not str or not _KEY.fullmatch(key):
                raise Fault(
                    "value", f"{shown(key)} is not a key of a label", "use capitals: BIAS, TP_1"
                )
            if value is None or (type(value) is float and math.isnan(value)):
                continue
            parts.append(f"{key}:{_format_value(key, value)}")
        return self._check_length("|".join(parts))

    def _check_length(self, text: str) -> str:
        self._meter.charge(1 + len(text) // 16)
        if len(text) > OBJECT_TEXT_CHARS:
            raise Fault(
                "size", f"a payload has at most {OBJECT_TEXT_CHARS} characters, not {len(text)}"
            )
        return text

    def _plain(self, value: Any, depth: int) -> Any:
        """The value as JSON has it; na is null."""
        if depth > VALUE_DEPTH:
            raise Fault("value", f"this is nested more than {VALUE_DEPTH} deep")
        kind = type(value)
        if kind in DICTS:
            self._meter.charge(20 + 10 * len(value))
            for key in value:
                if type(key) is not str:
                    raise Fault("type", f"the keys of JSON are strings, not {a_type(key)}")
            return {key: self._plain(part, depth + 1) for key, part in value.items()}
        if kind in LISTS or kind is tuple:
            self._meter.charge(20 + 10 * len(value))
            return [self._plain(part, depth + 1) for part in value]
        if kind is float and not math.isfinite(value):
            return None
        if kind in (int, float, str, bool) or value is None:
            return value
        hint = "take one bar: s[i]" if kind is Series else ""
        raise Fault("type", f"JSON cannot hold {a_type(value)}", hint)


def _format_value(key: str, value: Any) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        if not math.isfinite(value):
            raise Fault("value", f"{key} is not a finite number")
        whole = value.is_integer() and abs(value) <= MAX_WHOLE
        return str(int(value)) if whole else repr(value)
    if type(value) is str:
        if "|" in value or not value.strip():
            raise Fault("value", f"{key}: a text in a label is not blank and holds no |")
        return value
    hint = "take one bar: s[i]" if type(value) is Series else ""
    raise Fault("type", f"{key}: a label cannot hold {a_type(value)}", hint)


def functions(meter: Meter) -> Mapping[str, Callable[..., Any]]:
    payloads = Payloads(meter)
    return {name: getattr(payloads, name) for name in NAMES}
