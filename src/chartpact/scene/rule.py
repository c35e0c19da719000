"""A rule says what may stand in a field: how it is checked, written to JSON, read and described."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from chartpact.arrays import any_true

Json = Any


class SceneError(ValueError):
    """Something that cannot stand in a scene; the message says what, and what would be right."""


@dataclass(frozen=True)
class Rule:
    """What may stand in a field: how it is made canonical, written to JSON, read, described.

    `column` makes many values of the field canonical at once, for records kept as columns.
    """

    check: Callable[[Any], Any]
    schema: Mapping[str, Json]
    encode: Callable[[Any], Json] = lambda value: value
    decode: Callable[[Json], Any] = lambda value: value
    column: Callable[[Any], Any] | None = None


def one_of(names: Sequence[str]) -> Rule:
    allowed = frozenset(names)

    def check(value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise SceneError(f"{value!r} is not one of {', '.join(names)}")

    return Rule(check, {"enum": list(names)})


def nullable(rule: Rule, column: Callable[[Any], Any] | None = None) -> Rule:
    return Rule(
        lambda value: None if value is None else rule.check(value),
        {"anyOf": [rule.schema, {"type": "null"}]},
        lambda value: None if value is None else rule.encode(value),
        lambda value: None if value is None else rule.decode(value),
        column,
    )


def at_least(rule: Rule, low: int) -> Rule:
    def check(value: Any) -> Any:
        number = rule.check(value)
        if number < low:
            raise SceneError(f"{value!r} is less than {low}")
        return number

    def column(values: Any) -> Any:
        array = cast("Callable[[Any], Any]", rule.column)(values)
        if any_true(array < low):
            raise SceneError(f"{array.min()} is less than {low}")
        return array

    return Rule(check, {**rule.schema, "minimum": low}, column=column if rule.column else None)


def list_of(one: Rule) -> Rule:
    def check(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise SceneError(f"{values!r:.60} is not a list")
        return tuple(one.check(value) for value in values)

    def decode(values: Json) -> Json:
        return [one.decode(value) for value in values] if isinstance(values, list) else values

    return Rule(
        check,
        {"type": "array", "items": one.schema},
        lambda values: [one.encode(value) for value in values],
        decode,
    )
