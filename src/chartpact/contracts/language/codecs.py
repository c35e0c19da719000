"""Payloads: texts that carry typed fields, as a pattern, as `TAG|KEY:VALUE|…` or as JSON.

`decode` reads them strictly and `encode` is its inverse: what decoding would refuse is not written.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeVar

import re2

from chartpact import checks
from chartpact.cache import Memo
from chartpact.checks import MAX_WHOLE, Unfit, is_number
from chartpact.contracts.language.model import (
    MAX_ENTRIES,
    Decode,
    PayloadField,
    PayloadPath,
    misplaced_words,
)
from chartpact.contracts.language.values import Kind

_KEY = re.compile(r"[A-Z][A-Z0-9_]*")
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?[0-9]{1,16}")
_VERSION_KEY = {"delimiter": "V", "json": "v"}
_BLANK = " \u00a0\u2009\u202f"  # the blanks that separate thousands

MAX_PATTERN = 1000
MAX_TEXT = 4096
MEMORY = 1 << 19  # of one compiled pattern, and of the values of one function of texts, in bytes
_ENTRY = 200  # what a cached value takes beside its text, in bytes
_STEPS = 64  # of a pattern's automaton that take as long as one node of an expression

V = TypeVar("V")
Groups = Mapping[str, str | None]
Values = tuple[Any, ...]
Convert = Callable[[PayloadField, Any], Any]
Steps = PayloadPath  # from the root of a payload
Fault = tuple[tuple[str, ...], str, str]  # steps below `decode`, message, hint


class ReadingFault(Exception):
    """A fault of one object while expressions run; the engine makes a violation of it."""

    def __init__(
        self,
        kind: str,
        message: str,
        members: Sequence[Any] | None = None,
        path: str = "",
        placed: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.members, self.path = kind, message, members, path
        self.placed = placed  # an anchor has its place, only its bar or time is not known


# ---------------------------------------------------------------------------------------- patterns

_options = re2.Options()
_options.log_errors = False
_options.max_mem = MEMORY


def pattern_fault(text: str) -> str | None:
    """The fault of a pattern, if there is one."""
    if len(text) > MAX_PATTERN:
        return f"a pattern of {len(text)} characters is too long; at most {MAX_PATTERN}"
    try:
        re2.compile(text, _options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        return f"{text!r:.60} is not a pattern: {shown}"
    return None


def text_memo(make: Callable[[str], V], weight: int = 8) -> Memo[str, V]:
    """The values of a function of drawn texts, bounded in bytes; `weight` is that of a character
    and of what is made of it."""
    return Memo(make, most=MEMORY, weigh=lambda text: weight * len(text) + _ENTRY)


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

    @property
    def cost(self) -> float:
        """The worst cost of matching one byte, in nodes of an expression.

        RE2 then simulates its automaton, and copies the groups at every step.
        """
        return float(self._compiled.programsize * (1 + self._compiled.groups) / _STEPS)

    def _match(self, text: str) -> Groups | None:
        if len(text) > MAX_TEXT:
            raise ReadingFault(
                "malformed", f"a text of {len(text)} characters is too long to match"
            )
        try:
            match = self._compiled.fullmatch(text)
        except UnicodeEncodeError:
            raise ReadingFault("malformed", "a text holds half of a surrogate pair") from None
        if match is None:
            return None
        return {name: match.group(place) for name, place in self._places.items()}


# ------------------------------------------------------------------------------------------ codecs


class PayloadError(ValueError):
    """Values that cannot be written as this payload."""


Layout = str | dict[str | int, "Layout"]  # the name of a field, or what each step leads to


@dataclass(frozen=True)
class Codec:
    """A payload's grammar and its fields."""

    form: str
    fields: Mapping[str, PayloadField]
    tag: str = ""
    versions: tuple[int, ...] = (1,)
    pattern: str | None = None
    pattern_key: str | None = None  # the config key that holds the pattern

    @cached_property
    def layout(self) -> Layout:
        return lay_out(self.fields)

    @property
    def weight(self) -> int:
        """The bytes that a character of a payload takes once it is decoded, at most."""
        entries = [len(field.fields or ()) for field in self.fields.values()]
        return 8 + max(24 + 4 * fields for fields in entries) if any(entries) else 8


def lay_out(fields: Mapping[str, PayloadField]) -> Layout:
    """Where each field stands in a payload; raises `ValueError` where two stand at one place."""
    root: dict[str | int, Layout] = {}
    for name, field in fields.items():
        *above, last = ("", *field.path(name))  # so that an entry itself has a step, too
        at: Layout = root
        for step in above:
            at = at.setdefault(step, {}) if isinstance(at, dict) else at
        if not isinstance(at, dict) or last in at or len({type(step) for step in (*at, last)}) > 1:
            raise ValueError(f"{name} stands where another field does")
        at[last] = name
    return root.get("", {})


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
    faults += _fields_faults(spec.fields, form, ("fields",))
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
    keys = {str(field.path(name)[0]) for name, field in codec.fields.items()}
    if compiled.groups != keys:
        groups, wanted = (", ".join(sorted(names)) or "none" for names in (compiled.groups, keys))
        return f"the pattern has the groups {groups}, the fields are {wanted}"
    return None


def _fields_faults(
    fields: Mapping[str, PayloadField], form: str, place: tuple[str, ...]
) -> list[Fault]:
    faults = [
        ((*place, name), message, hint)
        for name, field in fields.items()
        for message, hint in _field_faults(name, field, form, inner=len(place) > 1)
    ]
    for name, field in fields.items():
        if field.fields and form == "json":
            faults += _fields_faults(field.fields, form, (*place, name, "fields"))
    try:
        lay_out(fields)
    except ValueError as error:
        faults.append((place, str(error), "each place of a payload has one field"))
    return faults


def _field_faults(
    name: str, field: PayloadField, form: str, inner: bool
) -> Iterator[tuple[str, str]]:
    path = field.path(name)
    yield from ((message, hint) for _, message, hint in misplaced_words(field))
    for option in field.options or ():
        if not option.strip() or (form == "delimiter" and "|" in option):
            yield f"the option {option!r} cannot be written", "remove it"
    if form != "json" and (len(path) != 1 or isinstance(path[0], int)):
        yield f"{form} has no places inside each other", "write one key"
    elif form != "json" and field.type == "list":
        yield f"{form} holds no lists", "lists are JSON's"
    elif form == "delimiter" and field.key is None and not _KEY.fullmatch(name):
        yield f"{name!r} is not a key", "write keys in capitals, or declare one: `key: …`"
    elif form == "delimiter" and set(str(path[0])) & {"|", ":"}:
        yield f"{path[0]!r} is not a key", "a key holds neither | nor :"
    if inner and field.type == "list":
        yield "a list stands in a list", "name places in the inner one: `key: [prices, 0]`"
    if not inner and not path:
        yield "only the entry of a list is a field itself", "write its key"
    if not inner and path[:1] == (_VERSION_KEY.get(form),):
        yield f"{name} carries the version", "list it in versions"


# ------------------------------------------------------------------------------------------ decode


def decode(codec: Codec, text: str, pattern: Pattern | None = None) -> Values:
    """The values of the fields in a text, in their order; raises `ReadingFault`."""
    if len(text) > MAX_TEXT:
        raise ReadingFault("malformed", f"a payload of {len(text)} characters is too long")
    payload = _split(codec, text, pattern)
    convert: Convert = _from_json if codec.form == "json" else _from_text
    version_key = _VERSION_KEY.get(codec.form)
    if version_key is not None:
        _check_version(codec, payload.pop(version_key, 1), convert)
    return _values(codec.fields, codec.layout, payload, convert, ())


def _values(
    fields: Mapping[str, PayloadField], layout: Layout, payload: Any, convert: Convert, at: Steps
) -> Values:
    """The values of fields, in their order."""
    parts: dict[str, Any] = {}
    _take_apart(layout, payload, parts, at)
    values = []
    for name, field in fields.items():
        try:
            if field.type == "list":
                values.append(_entries(field, parts.get(name), convert, (*at, *field.path(name))))
            else:
                values.append(_convert(field, parts.get(name), convert))
        except ValueError as error:
            message = f"{_format_path(at)}{name}: {error}"
            raise ReadingFault("malformed", message, path=f"fields.{name}") from None
        except ReadingFault as trouble:  # of an entry
            trouble.path = f"fields.{name}.{trouble.path}" if trouble.path else f"fields.{name}"
            raise
    return tuple(values)


def _take_apart(layout: Layout, value: Any, parts: dict[str, Any], at: Steps) -> None:
    """Extracts the declared fields; an undeclared key raises."""
    if isinstance(layout, str):
        parts[layout] = value
        return
    if value is None:
        return
    array = any(isinstance(step, int) for step in layout)
    items: Iterable[tuple[str | int, Any]]
    if array and isinstance(value, list):
        items = enumerate(value)
    elif not array and isinstance(value, dict):
        items = value.items()
    else:
        form = "an array" if array else "an object"
        raise ReadingFault("malformed", f"{_format_path(at)}{value!r:.60} is not {form}")
    for step, inner in items:
        if step not in layout:
            what = "entry" if array else "key"
            message = f"{_format_path(at)}the payload has an unknown {what} {step!r:.60}"
            raise ReadingFault("unexpected", message)
        _take_apart(layout[step], inner, parts, (*at, step))


def _entries(field: PayloadField, part: Any, convert: Convert, at: Steps) -> tuple[Values, ...]:
    if part is None and field.optional:
        return ()
    if not isinstance(part, list):
        raise ValueError("it is missing" if part is None else f"{part!r:.60} is not an array")
    if len(part) > MAX_ENTRIES:
        raise ValueError(f"{len(part)} entries are too many; at most {MAX_ENTRIES}")
    fields = field.fields or {}
    layout = lay_out(fields)
    return tuple(_values(fields, layout, item, convert, (*at, n)) for n, item in enumerate(part))


def _format_path(at: Steps) -> str:
    return f"{'.'.join(map(str, at))}: "[:80] if at else ""


def _split(codec: Codec, text: str, pattern: Pattern | None) -> dict[str, Any]:
    """The parts of a payload by their keys, not yet converted."""
    if codec.form == "json":
        return _parse_json(text)
    if codec.form == "delimiter":
        return _split_delimited(codec, text)
    if pattern is None:
        if codec.pattern is None:
            raise ReadingFault("malformed", "no pattern is configured to read this text with")
        pattern = Pattern(codec.pattern)
    groups = pattern.groups_in[text]
    if groups is None:
        raise ReadingFault("malformed", f"{text!r:.80} does not match {pattern.text!r:.80}")
    return {name: part and part.strip() for name, part in groups.items()}


_WHOLE_NUMBER = PayloadField(type="time")


def _check_version(codec: Codec, written: Any, convert: Convert) -> None:
    try:
        version = (
            written if written == 1 and written is not True else convert(_WHOLE_NUMBER, written)
        )
    except ValueError:
        raise ReadingFault(
            "malformed", f"the version {written!r:.40} is not a whole number"
        ) from None
    if version not in codec.versions:
        known = ", ".join(map(str, codec.versions))
        raise ReadingFault("version", f"the payload has version {version}; known: {known}")


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
    if field.format is not None:
        text = _plain_number(text, field.format)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r:.60} is not a number")
    number = int(text) if _WHOLE.fullmatch(text) else float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text!r:.60} is too large a number")
    return float(number) if abs(number) > MAX_WHOLE else number


def _plain_number(text: str, form: str) -> str:
    """A number as JSON writes it, from one that is written like the form.

    >>> _plain_number("-12.345.678,9", "1.234,5")
    '-12345678.9'
    """
    thousands, decimal = form[1:-5], form[-2]
    if thousands == " ":
        for blank in _BLANK:
            text = text.replace(blank, " ")
    digits = f"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})*" if thousands else "[0-9]+"
    if not re.fullmatch(f"-?{digits}(?:{re.escape(decimal)}[0-9]+)?", text):
        raise ValueError(f"{text!r:.60} is not a number written like {form}")
    return (text.replace(thousands, "") if thousands else text).replace(decimal, ".")


def _format_number(number: float, form: str) -> str:
    """The inverse of `_plain_number`."""
    whole, _, rest = f"{Decimal(repr(number)):f}".partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    thousands, decimal = form[1:-5], form[-2]
    whole = f"{int(whole):,}".replace(",", thousands)
    return f"{sign}{whole}{decimal}{rest}" if rest else f"{sign}{whole}"


def _from_json(field: PayloadField, value: Any) -> Any:
    if field.format is not None:
        return _from_text(field, checks.text(value))
    if field.type in ("text", "choice"):
        return checks.text(value)
    if field.type == "bool" and not checks.is_flag(value):
        raise Unfit("is not true or false", value)
    if field.type == "time" and not checks.is_whole(value):
        raise Unfit("is not a time in milliseconds", value)
    if field.type != "number":
        return value
    number = checks.number(value)
    return float(number) if abs(number) > MAX_WHOLE else number


def _split_delimited(codec: Codec, text: str) -> dict[str, str]:
    tag, *pieces = text.split("|")
    aliases = {field.key[0] for field in codec.fields.values() if field.key is not None}
    if tag != codec.tag:
        raise ReadingFault("malformed", f"{text!r:.60} does not begin with {codec.tag}|")
    pairs: dict[str, str] = {}
    for piece in pieces:
        key, colon, value = piece.partition(":")
        if not colon or not (key in aliases or _KEY.fullmatch(key)):
            raise ReadingFault("malformed", f"{piece!r:.60} is not KEY:VALUE")
        if key in pairs:
            raise ReadingFault("malformed", f"the key {key} is there twice")
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
        raise ReadingFault("malformed", f"{text!r:.60} is not JSON: {error!s:.80}") from None
    if not isinstance(payload, dict):
        raise ReadingFault("malformed", f"{text!r:.60} is not a JSON object")
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
            payload = {**({"v": version} if version != 1 else {})}
            payload |= _put_together(codec.fields, present)
            try:
                text = json.dumps(
                    payload, allow_nan=False, ensure_ascii=False, separators=(",", ":")
                )
            except (TypeError, ValueError) as error:
                raise PayloadError(str(error)) from None
        case "delimiter":
            head = [codec.tag, *([f"V:{version}"] if version != 1 else [])]
            pairs = [
                f"{codec.fields[name].path(name)[0]}:{_write(name, value, codec.fields[name])}"
                for name, value in present.items()
            ]
            text = "|".join([*head, *pairs])
        case _:
            shape = pattern if pattern is not None else codec.pattern
            if shape is None:
                raise PayloadError("no pattern is configured")
            fields = codec.fields.items()
            texts = {
                str(field.path(name)[0]): _write(name, present[name], field)
                for name, field in fields
                if name in present
            }
            text = _fill(shape, texts)
    try:
        back = decode(codec, text, Pattern(pattern) if pattern is not None else None)
    except ReadingFault as trouble:
        raise PayloadError(trouble.message) from None
    wanted = tuple(given.values())
    if back != wanted or [type(v) for v in back] != [type(v) for v in wanted]:
        raise PayloadError(f"{text!r:.80} would be read as something else")
    return text


def _put_together(fields: Mapping[str, PayloadField], values: Mapping[str, Any]) -> Any:
    """The JSON in which every value stands at the place of its field."""
    root: dict[str | int, Any] = {}
    for name, given in values.items():
        field, value = fields[name], given
        if field.type == "list":
            inner = field.fields or {}
            value = [_put_together(inner, dict(zip(inner, entry, strict=True))) for entry in given]
        elif field.format is not None and given is not None:
            value = _write(name, given, field)
        at, (*above, last) = root, ("", *field.path(name))
        for step in above:
            at = at.setdefault(step, {})
        at[last] = value
    return _arrays(root.get("", {}))


def _arrays(tree: Any) -> Any:
    """A tree in which mappings by number are arrays."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(isinstance(step, int) for step in tree):
        return [_arrays(tree.get(n)) for n in range(max(tree) + 1)]
    return {step: _arrays(inner) for step, inner in tree.items()}


def _write(name: str, value: Any, field: PayloadField) -> str:
    if is_number(value) and field.format is not None:
        return _format_number(value, field.format)
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


def _fill(pattern: str, given: Mapping[str, str]) -> str:
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
            out.append(value or "")
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
