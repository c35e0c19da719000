"""Payloads: texts that carry typed fields, as a pattern, as `TAG|KEY:VALUE|…` or as JSON.

`decode` reads them strictly and `encode` is its inverse: what decoding would refuse is not written.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import re2

from chartpact import checks
from chartpact.cache import Memo
from chartpact.checks import MAX_WHOLE, Unfit
from chartpact.contracts.model import Decode, PayloadField, misplaced_words
from chartpact.contracts.reading import Trouble
from chartpact.contracts.values import Kind

_KEY = re.compile(r"[A-Z][A-Z0-9_]*")
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?[0-9]{1,16}")
_VERSION_KEY = {"delimiter": "V", "json": "v"}

MAX_PATTERN = 1000
MAX_TEXT = 4096
_MEMORY = 1 << 20
_ENTRY = 200  # what an entry takes beside its text, in bytes

V = TypeVar("V")
Groups = Mapping[str, str | None]
Values = tuple[Any, ...]
Convert = Callable[[PayloadField, Any], Any]
Fault = tuple[tuple[str, ...], str, str]  # steps below `decode`, message, hint


# ---------------------------------------------------------------------------------------- patterns

_options = re2.Options()
_options.log_errors = False
_options.max_mem = _MEMORY


def pattern_fault(text: str) -> str | None:
    """What is wrong with a pattern, or nothing."""
    if len(text) > MAX_PATTERN:
        return f"a pattern of {len(text)} characters is too long; at most {MAX_PATTERN}"
    try:
        re2.compile(text, _options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        return f"{text!r:.60} is not a pattern: {shown}"
    return None


def text_memo(make: Callable[[str], V]) -> Memo[str, V]:
    """The values of a function of drawn texts, bounded by what the texts weigh."""
    return Memo(make, most=_MEMORY, weigh=lambda text: len(text) + _ENTRY)


class Pattern:
    """A pattern that must match a whole text; `groups_in[text]` is None where it does not."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = re2.compile(text, _options)
        self._places: dict[str, int] = dict(self._compiled.groupindex)
        self.groups_in: Memo[str, Groups | None] = text_memo(self._match)

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(self._places)

    def _match(self, text: str) -> Groups | None:
        if len(text) > MAX_TEXT:
            raise Trouble("malformed", f"a text of {len(text)} characters is too long to match")
        try:
            match = self._compiled.fullmatch(text)
        except UnicodeEncodeError:
            raise Trouble("malformed", "a text holds half of a surrogate pair") from None
        if match is None:
            return None
        return {name: match.group(place) for name, place in self._places.items()}


# ------------------------------------------------------------------------------------------ codecs


class PayloadError(ValueError):
    """Values that cannot be written as this payload."""


@dataclass(frozen=True)
class Codec:
    """A payload's grammar and its fields."""

    form: str
    fields: Mapping[str, PayloadField]
    tag: str = ""
    versions: tuple[int, ...] = (1,)
    pattern: str | None = None
    pattern_key: str | None = None  # the config key that holds the pattern


def compile_codec(spec: Decode, config: Mapping[str, Kind]) -> tuple[Codec, list[Fault]]:
    """The codec that a contract declares, and what is wrong with the declaration."""
    form, faults = spec.as_, list[Fault]()
    foreign = {
        "pattern": spec.pattern is not None and form != "pattern",
        "tag": spec.tag is not None and form != "delimiter",
        "versions": spec.versions is not None and form == "pattern",
    }
    for word in (word for word, wrong in foreign.items() if wrong):
        faults.append(((word,), f"{word} does not belong to {form}", "remove it"))
    for name, field in spec.fields.items():
        faults += _field_faults(name, field, form)
    if not spec.fields:
        faults.append((("fields",), "a payload has fields", "write fields: {name: {type: text}}"))
    if form == "delimiter" and (not spec.tag or "|" in spec.tag or not spec.tag.strip()):
        faults.append((("tag",), "a delimiter payload begins with a tag", "write tag: SIGNAL"))
    key = spec.pattern if form == "pattern" and spec.pattern in config else None
    pattern = None if key is not None else spec.pattern
    codec = Codec(form, spec.fields, spec.tag or "", tuple(spec.versions or (1,)), pattern, key)
    wrong, hint = None, "name its groups (?P<field>…) as in fields"
    if key is not None and config[key].name != "pattern":
        wrong, hint = f"the config key {key} is not a pattern", "give it type: pattern"
    elif form == "pattern" and key is None:
        if pattern is None:
            wrong, hint = "pattern is missing", "write pattern: '…(?P<name>…)'"
        elif (wrong := pattern_fault(pattern)) is not None:
            hint = "patterns are those of RE2"
        else:
            wrong = group_fault(pattern, codec)
    if wrong is not None:
        faults.append((("pattern",), wrong, hint))
    return codec, faults


def group_fault(pattern: str, codec: Codec) -> str | None:
    """How a pattern's named groups differ from the fields, or nothing."""
    compiled = Pattern(pattern)
    if compiled.groups != set(codec.fields):
        groups, wanted = (
            ", ".join(sorted(names)) or "none" for names in (compiled.groups, codec.fields)
        )
        return f"the pattern has the groups {groups}, the fields are {wanted}"
    return None


def _field_faults(name: str, field: PayloadField, form: str) -> list[Fault]:
    wrong = [(message, hint) for _, message, hint in misplaced_words(field)]
    for option in field.options or ():
        if not option.strip() or (form == "delimiter" and "|" in option):
            wrong.append((f"the option {option!r} cannot be written", "remove it"))
    if form == "delimiter" and not _KEY.fullmatch(name):
        wrong.append((f"{name!r} is not a key", "write keys in capitals"))
    if name == _VERSION_KEY.get(form):
        wrong.append((f"{name} carries the version", "list it in versions"))
    return [(("fields", name), message, hint) for message, hint in wrong]


# ------------------------------------------------------------------------------------------ decode


def decode(codec: Codec, text: str, pattern: Pattern | None = None) -> Values:
    """The values of the fields in a text, in their order; raises `Trouble`."""
    if len(text) > MAX_TEXT:
        raise Trouble("malformed", f"a payload of {len(text)} characters is too long")
    payload = _split(codec, text, pattern)
    convert: Convert = _from_json if codec.form == "json" else _from_text
    version_key = _VERSION_KEY.get(codec.form)
    if version_key is not None:
        _check_version(codec, payload.pop(version_key, 1), convert)
    for name in payload:
        if name not in codec.fields:
            raise Trouble("unexpected", f"the payload has an unknown key {name!r:.60}")
    values = []
    for name, field in codec.fields.items():
        try:
            values.append(_convert(field, payload.get(name), convert))
        except ValueError as error:
            raise Trouble("malformed", f"{name}: {error}", path=f"fields.{name}") from None
    return tuple(values)


def _split(codec: Codec, text: str, pattern: Pattern | None) -> dict[str, Any]:
    """The parts of a payload by name, not yet converted."""
    if codec.form == "json":
        return _parse_json(text)
    if codec.form == "delimiter":
        return _split_delimited(codec, text)
    if pattern is None:
        if codec.pattern is None:
            raise Trouble("malformed", "no pattern is configured to read this text with")
        pattern = Pattern(codec.pattern)
    groups = pattern.groups_in[text]
    if groups is None:
        raise Trouble("malformed", f"{text!r:.80} does not match {pattern.text!r:.80}")
    return {name: part and part.strip() for name, part in groups.items()}


_WHOLE_NUMBER = PayloadField(type="time")


def _check_version(codec: Codec, written: Any, convert: Convert) -> None:
    try:
        version = (
            written if written == 1 and written is not True else convert(_WHOLE_NUMBER, written)
        )
    except ValueError:
        raise Trouble("malformed", f"the version {written!r:.40} is not a whole number") from None
    if version not in codec.versions:
        known = ", ".join(map(str, codec.versions))
        raise Trouble("version", f"the payload has version {version}; known: {known}")


def _convert(field: PayloadField, part: Any, convert: Convert) -> Any:
    if part is None or (isinstance(part, str) and not part.strip()):
        if field.optional:
            return None
        raise ValueError("it is missing or blank")
    value = convert(field, part)
    if field.type == "choice" and value not in (field.options or ()):
        raise ValueError(f"{value!r:.60} is not one of {', '.join(field.options or ())}")
    if field.min is not None and value < field.min:
        raise ValueError(f"{value} is below {field.min:g}")
    if field.max is not None and value > field.max:
        raise ValueError(f"{value} is above {field.max:g}")
    return value


def _from_text(field: PayloadField, text: str) -> Any:
    if field.type in ("text", "choice"):
        return text
    if field.type == "bool":
        if text not in ("true", "false"):
            raise ValueError(f"{text!r:.60} is not true or false")
        return text == "true"
    if field.type == "time":
        if not _WHOLE.fullmatch(text) or abs(int(text)) > MAX_WHOLE:
            raise ValueError(f"{text!r:.60} is not a time in milliseconds")
        return int(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r:.60} is not a number")
    number = int(text) if _WHOLE.fullmatch(text) else float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text!r:.60} is too large a number")
    return float(number) if abs(number) > MAX_WHOLE else number


def _from_json(field: PayloadField, value: Any) -> Any:
    if field.type in ("text", "choice"):
        return checks.text(value)
    if field.type == "bool" and not isinstance(value, bool):
        raise Unfit("is not true or false", value)
    if field.type == "time" and not checks.is_whole(value):
        raise Unfit("is not a time in milliseconds", value)
    if field.type != "number":
        return value
    number = checks.number(value)
    return float(number) if abs(number) > MAX_WHOLE else number


def _split_delimited(codec: Codec, text: str) -> dict[str, str]:
    tag, *pieces = text.split("|")
    if tag != codec.tag:
        raise Trouble("malformed", f"{text!r:.60} does not begin with {codec.tag}|")
    pairs: dict[str, str] = {}
    for piece in pieces:
        key, colon, value = piece.partition(":")
        if not colon or not _KEY.fullmatch(key):
            raise Trouble("malformed", f"{piece!r:.60} is not KEY:VALUE")
        if key in pairs:
            raise Trouble("malformed", f"the key {key} is there twice")
        pairs[key] = value
    return pairs


def _parse_json(text: str) -> dict[str, Any]:
    def pairs(listed: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in listed}) < len(listed):
            raise ValueError("a key is there twice")
        return dict(listed)

    def constant(word: str) -> Any:
        raise ValueError(f"{word} is not a number")

    try:
        payload = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError, OverflowError) as error:
        raise Trouble("malformed", f"{text!r:.60} is not JSON: {error!s:.80}") from None
    if not isinstance(payload, dict):
        raise Trouble("malformed", f"{text!r:.60} is not a JSON object")
    return payload


# ------------------------------------------------------------------------------------------ encode


def encode(
    codec: Codec, values: Mapping[str, Any], version: int = 1, pattern: str | None = None
) -> str:
    """The text that decodes to these values; fields that are None are left out."""
    if unknown := sorted(set(values) - set(codec.fields)):
        raise PayloadError(f"there is no field {unknown[0]!r}")
    given = {name: values.get(name) for name in codec.fields}
    present = {name: value for name, value in given.items() if value is not None}
    match codec.form:
        case "json":
            payload = {**({"v": version} if version != 1 else {}), **present}
            try:
                text = json.dumps(
                    payload, allow_nan=False, ensure_ascii=False, separators=(",", ":")
                )
            except (TypeError, ValueError) as error:
                raise PayloadError(str(error)) from None
        case "delimiter":
            head = [codec.tag, *([f"V:{version}"] if version != 1 else [])]
            text = "|".join([*head, *(f"{k}:{_write(k, v)}" for k, v in present.items())])
        case _:
            shape = pattern if pattern is not None else codec.pattern
            if shape is None:
                raise PayloadError("no pattern is configured")
            text = _fill(shape, given)
    try:
        back = decode(codec, text, Pattern(pattern) if pattern is not None else None)
    except Trouble as trouble:
        raise PayloadError(trouble.message) from None
    wanted = tuple(given.values())
    if back != wanted or [type(v) for v in back] != [type(v) for v in wanted]:
        raise PayloadError(f"{text!r:.80} would be read as something else")
    return text


def _write(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        raise PayloadError(f"{name}: {value!r:.60} cannot be written")
    return value


_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_GROUP = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_MEANT = frozenset(r".^$*+?{}[]|()\\")


def _fill(pattern: str, given: Mapping[str, Any]) -> str:
    """The text of a pattern made of plain characters and named groups."""
    out, at = [], 0
    while at < len(pattern):
        group, escaped = _GROUP.match(pattern, at), _ESCAPED.match(pattern, at)
        if group is not None:
            value = given.get(group[1])
            at = _group_end(pattern, group.end())
            optional = pattern[at : at + 1] == "?"
            if value is None and not optional:
                raise PayloadError(f"{group[1]} is missing")
            out.append("" if value is None else _write(group[1], value))
            at += optional
        elif escaped is not None:
            out.append(escaped[1])
            at = escaped.end()
        elif pattern[at] in _MEANT:
            raise PayloadError(
                f"the pattern {pattern!r:.60} cannot be written: "
                f"{pattern[at]!r} outside a named group stands for several texts"
            )
        else:
            out.append(pattern[at])
            at += 1
    return "".join(out)


def _group_end(pattern: str, at: int) -> int:
    depth, in_class = 1, False
    while at < len(pattern) and depth:
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            at += pattern[at + 1 : at + 2] == "]"
        else:
            depth += (char == "(") - (char == ")")
        at += 1
    return at
