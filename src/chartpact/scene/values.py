"""Values are frozen records whose fields carry their rules: checked when made, lossless in JSON."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Self, get_type_hints

from chartpact.scene.rule import Json, Rule, SceneError

_rules: dict[type, Mapping[str, Rule]] = {}
_checks: dict[type, tuple[tuple[str, Callable[[Any], Any]], ...]] = {}
_needed: dict[type, tuple[str, ...]] = {}


def rules(value_type: type) -> Mapping[str, Rule]:
    """The rule of each field, in order."""
    if value_type not in _rules:
        hints = get_type_hints(value_type, include_extras=True)
        found = {f.name: hints[f.name].__metadata__[0] for f in fields(value_type)}
        _checks[value_type] = tuple((name, rule.check) for name, rule in found.items())
        _needed[value_type] = tuple(
            f.name
            for f in fields(value_type)
            if f.default is MISSING and f.default_factory is MISSING
        )
        _rules[value_type] = found
    return _rules[value_type]


class Value:
    """A frozen record whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        if type(self) not in _checks:
            rules(type(self))
        for name, check in _checks[type(self)]:
            value = getattr(self, name)
            try:
                checked = check(value)
            except SceneError as error:
                raise SceneError(f"{type(self).__name__}.{name}: {error}") from None
            if checked is not value:
                object.__setattr__(self, name, checked)

    def to_json(self) -> dict[str, Json]:
        return {name: rule.encode(getattr(self, name)) for name, rule in rules(type(self)).items()}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        known = rules(cls)
        if not isinstance(data, Mapping):
            raise SceneError(f"{cls.__name__}: {data!r:.60} is not a JSON object")
        if unknown := sorted(set(data) - set(known)):
            raise SceneError(f"{cls.__name__}: unknown field {unknown[0]!r}")
        if missing := [name for name in _needed[cls] if name not in data]:
            raise SceneError(f"{cls.__name__}: {', '.join(missing)} missing")
        return cls(**{name: known[name].decode(value) for name, value in data.items()})

    @classmethod
    def schema(cls) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {name: dict(rule.schema) for name, rule in rules(cls).items()},
            "required": list(rules(cls)),
            "additionalProperties": False,
        }


def record(value_type: type[Value]) -> Rule:
    def check(value: Any) -> Value:
        if isinstance(value, value_type):
            return value
        raise SceneError(f"{value!r:.60} is not a {value_type.__name__}")

    return Rule(check, value_type.schema(), lambda value: value.to_json(), value_type.from_json)
