"""How values read as text: str(), repr(), f-strings, str.format and %."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.limits import TEXT_CHARS, VALUE_DEPTH
from chartpact.script.runtime.meter import Exhausted, Meter
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import DICTS, LISTS, Method, a_type, is_script_function

_ESCAPES = {
    **{code: f"\\x{code:02x}" for code in (*range(32), *range(127, 161))},
    **{code: f"\\u{code:04x}" for code in (0x2028, 0x2029)},
    **{ord(c): f"\\{letter}" for c, letter in zip('"\\\n\r\t', '"\\nrt', strict=True)},
}
_WORD = 1 << 64
_SHORT = 64  # characters that are joined at no cost of their own
_PLAIN_BITS = 60  # of a number before the point: up to here its digits are quick to find
_SPECIAL = re.compile('["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029]')


def to_str(value: Any, meter: Meter) -> str:
    """The value as str() shows it.

    >>> to_str(("a", 1.5, None), Meter(1000))
    '("a", 1.5, None)'
    """
    if type(value) is str:
        return value
    if type(value) is float:
        meter.charge(12)
        return repr(value)
    if type(value) is int:
        meter.charge(6 if -_WORD < value < _WORD else 60)
        return repr(value)
    return to_repr(value, meter)


def to_repr(value: Any, meter: Meter) -> str:
    """The value as repr() shows it: texts in double quotes."""
    meter.charge(3)
    parts: list[str] = []
    began = meter.left
    try:
        _write(value, parts, meter, [])
    except Exhausted as error:
        raise error.since(began) from None
    return "".join(parts)


def _write(value: Any, parts: list[str], meter: Meter, around: list[int]) -> None:
    """Adds the text of a value; `around` has the ids of the containers it lies in."""
    kind = type(value)
    if kind in LISTS or kind is tuple or kind in DICTS:
        if id(value) in around:
            parts.append("{...}" if kind in DICTS else "[...]")
            return
        if len(around) > VALUE_DEPTH:
            raise Fault("value", f"this is nested more than {VALUE_DEPTH} deep")
        meter.charge(20 + (12 if kind in DICTS else 4) * len(value))
        around.append(id(value))
        if kind in DICTS:
            parts.append("{")
            for i, (key, element) in enumerate(value.items()):
                parts.append(", " if i else "")
                _write(key, parts, meter, around)
                parts.append(": ")
                _write(element, parts, meter, around)
            parts.append("}")
        else:
            parts.append("(" if kind is tuple else "[")
            for i, element in enumerate(value):
                parts.append(", " if i else "")
                _write(element, parts, meter, around)
            parts.append(",)" if kind is tuple and len(value) == 1 else ")" * (kind is tuple))
            parts.append("" if kind is tuple else "]")
        around.pop()
        return
    if kind is str and _SPECIAL.search(value):
        meter.charge(12 + len(value))
    piece = _atom(value)
    meter.charge((22 if kind is float else 10) + len(piece) // 6)
    parts.append(piece)


def _atom(value: Any) -> str:
    if type(value) is str:
        return f'"{value.translate(_ESCAPES)}"' if _SPECIAL.search(value) else f'"{value}"'
    if type(value) is range:
        bounds = (value.start, value.stop) if value.start or value.step != 1 else (value.stop,)
        return f"range({', '.join(map(str, (*bounds, value.step) if value.step != 1 else bounds))})"
    if type(value) is Series:
        return f"<series of {len(value)} bars>"
    if is_script_function(value):
        return f"<function {value.__name__.replace('<lambda>', 'lambda')}>"
    if callable(value):
        name = value.name if type(value) is Method else value.__name__
        return f"<function {name.lstrip('_')}>"
    return repr(value) if value is None or type(value) in (bool, int, float) else str(value)


def check_length(length: int) -> None:
    """Refuses a text that would be too long."""
    if length > TEXT_CHARS:
        raise Fault("size", f"a text grew beyond {TEXT_CHARS:,} characters")


def _fill(
    template: str, pattern: re.Pattern[str], fill: Callable[[re.Match[str]], str], meter: Meter
) -> str:
    """The template with every field filled in."""
    parts: list[str] = []
    size = end = 0
    for match in pattern.finditer(template):
        literal, end = template[end : match.start()], match.end()
        piece = fill(match)
        size += len(literal) + len(piece)
        check_length(size)
        meter.charge(22 + len(piece) // 16)
        parts += (literal, piece)
    parts.append(template[end:])
    return "".join(parts)


_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*|[0-9]{1,4})?\}|[{}]")


def format_template(
    template: str, values: Sequence[Any], named: Mapping[str, Any], meter: Meter
) -> str:
    """`template.format(…)`, in which a field is `{}`, `{0}` or `{name}` and nothing else.

    >>> format_template("{} of {total}: {{}}", [1], {"total": 2}, Meter(1000))
    '1 of 2: {}'
    """
    automatic, numbered = 0, False

    def fill(match: re.Match[str]) -> str:
        nonlocal automatic, numbered
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[0] in ("{", "}"):
            message = f"{template[match.start() :][:20]!r} is not a field of a format"
            hint = "write {}, {0} or {name}; double a brace to print it"
            raise Fault("value", message, f"{hint}; use text.number(x, decimals) for digits")
        name = match[1]
        if name is not None and not name.isdigit():
            if name not in named:
                raise Fault("value", f"the format asks for {name!r}, which was not given")
            return to_str(named[name], meter)
        at = automatic if name is None else int(name)
        automatic += name is None
        numbered = numbered or name is not None
        if automatic and numbered:
            raise Fault("value", "a format has {} or {0}, not both")
        if at >= len(values):
            message = f"the format asks for value {at}, and {len(values)} were given"
            raise Fault("value", message)
        return to_str(values[at], meter)

    meter.charge(26 + len(template) // 3)
    return _fill(template, _FIELD, fill, meter)


_PERCENT = re.compile(r"%(.?)", re.DOTALL)
_LETTERS = "srdoxXefg"
_WHOLE = {"d": "d", "o": "o", "x": "x", "X": "X"}
_REAL = {"e": ".6e", "f": ".6f", "g": "g"}


def format_percent(template: str, values: Any, meter: Meter) -> str:
    """`template % values`: %s %r %d %o %x %X %e %f %g and %%, without widths.

    >>> format_percent("%s is %d", ("a", 1), Meter(1000))
    'a is 1'
    """
    arguments = list(values) if type(values) is tuple else [values]
    used = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal used
        if match[1] == "%":
            return "%"
        if match[1] not in _LETTERS or not match[1]:
            hint = "write %s, or %% for a percent sign; text.number(x, decimals) for digits"
            raise Fault("value", f"{match[0]!r} is not a field of a format", hint)
        if used == len(arguments):
            raise Fault("value", f"the format asks for more than {len(arguments)} values")
        used += 1
        return _format_field(match[1], arguments[used - 1], meter)

    meter.charge(26 + len(template) // 16)
    text = _fill(template, _PERCENT, fill, meter)
    if used < len(arguments):
        raise Fault("value", f"the format takes {used} values, and {len(arguments)} were given")
    return text


@dataclass(frozen=True)
class Template:
    """A literal format that was read when its script was compiled: texts between its fields."""

    texts: tuple[str, ...]  # one more than there are fields
    letters: str  # of the fields: s, d, …


def read_template(template: str) -> Template | None:
    """The fields `{}` of a format; None if it has others, whose values are not in order."""
    pieces = _FIELD.split(template)  # a text, then the name of a field and the text after it
    matches = [match[0] for match in _FIELD.finditer(template)]
    if any(match != "{}" for match in matches):
        return None
    return Template(tuple(pieces[::2]), "s" * len(matches))


def read_percent(template: str) -> Template | None:
    """The fields of a format for `%`; None if it is wrong or has percent signs.

    >>> read_percent("%s is %d")
    Template(texts=('', ' is ', ''), letters='sd')
    """
    pieces = _PERCENT.split(template)
    letters = pieces[1::2]
    if not all(letter and letter in _LETTERS for letter in letters):
        return None
    return Template(tuple(pieces[::2]), "".join(letters))


def fill_in(texts: tuple[str, ...], letters: str, values: tuple[Any, ...], meter: Meter) -> str:
    """The text of a literal format for so many values.

    >>> fill_in(("", " is ", ""), "sd", ("a", 1), Meter(1000))
    'a is 1'
    """
    meter.charge(8 + 8 * len(letters))
    parts, size = list(texts[:1]), 0
    for place, value in enumerate(values):
        letter = letters[place]
        if type(value) is int and letter in "sd" and -_WORD < value < _WORD:
            piece = repr(value)
        elif type(value) is str and letter == "s":
            piece = value
        else:
            piece = _format_field(letter, value, meter)
        size += len(piece)
        if size > _SHORT:
            check_length(size)
        parts += (piece, texts[place + 1])
    if size > _SHORT:
        check_length(size + sum(map(len, texts)))
        meter.charge(size // 16)
    return "".join(parts)


def _format_field(letter: str, value: Any, meter: Meter) -> str:
    if letter == "s":
        return to_str(value, meter)
    if letter == "r":
        return to_repr(value, meter)
    if type(value) not in (int, float):
        raise Fault("type", f"%{letter} takes a number, not {a_type(value)}")
    if letter in "oxX" and type(value) is float:
        raise Fault("type", f"%{letter} takes an int, not a float", "cut the fraction with int(x)")
    try:
        if letter in _WHOLE:
            meter.charge(16 + (0 if -_WORD < value < _WORD else 40))
            return format(int(value), _WHOLE[letter])
        meter.charge(16 + digit_steps(value) if letter == "f" else 16)
        text = format(float(value), _REAL[letter])
        whole = letter == "g" and text.lstrip("-").isdigit()
        return f"{text}.0" if whole else text
    except (OverflowError, ValueError):
        raise Fault("value", f"%{letter} does not go with {value!r:.40}") from None


def digit_steps(number: float) -> int:
    """The steps that the digits before the point of a large number cost.

    >>> digit_steps(100.5), digit_steps(1e300)
    (0, 468)
    """
    return max(math.frexp(number)[1] - _PLAIN_BITS, 0) // 2


def join_parts(parts: Sequence[Any], meter: Meter) -> str:
    """The text of an f-string from its parts."""
    pieces = [to_str(part, meter) for part in parts]
    size = sum(map(len, pieces))
    meter.charge(10 + 4 * len(pieces) + size // 16)
    check_length(size)
    return "".join(pieces)
