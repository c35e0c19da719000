"""Records: frozen dataclasses whose fields are checked when they are made, and lossless in JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field
from types import NoneType
from typing import Annotated, Any, ClassVar, Self, get_origin, get_type_hints

from chartpact.checks import Unfit, shown
from chartpact.drawing.fieldtypes import FieldType, Json


class SceneError(ValueError):
    """Something that cannot stand in a scene; the message says what, and what would be right.

    Where it is a value of a record, `field` names its place and `unfit` says what is wrong.
    """

    def __init__(self, message: str, field: str = "", unfit: Unfit | None = None) -> None:
        super().__init__(f"{message}.{field}: {unfit}" if unfit else message)
        self.field = field
        self.unfit = unfit


class Record:
    """A frozen dataclass in which the type of each field is `Annotated` with a `FieldType`."""

    field_types: ClassVar[Mapping[str, FieldType]] = {}
    optional: ClassVar[tuple[str, ...]] = ()  # left out of the JSON where empty or false
    _required: ClassVar[Sequence[str]] = ()
    _blank: ClassVar[Mapping[str, Any]] = {}  # every field, canonical defaults where there are any
    _checks: ClassVar[Sequence[tuple[str, Callable[[Any], Any]]]] = ()
    _encoders: ClassVar[Sequence[tuple[str, Callable[[Any], Json]]]] = ()
    _decoders: ClassVar[Sequence[tuple[str, Callable[[Json], Any]]]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        hints = get_type_hints(cls, include_extras=True)
        fields = {name: hint for name, hint in hints.items() if get_origin(hint) is Annotated}
        types = {name: hint.__metadata__[0] for name, hint in fields.items()}
        defaults = {name: _default(cls, name) for name in types}
        cls.field_types = types
        cls._required = tuple(name for name in types if defaults[name] is MISSING)
        cls._blank = {
            name: None if default is MISSING else types[name].check(default)
            for name, default in defaults.items()
        }
        cls._checks = tuple((name, one.check) for name, one in types.items())
        cls._encoders = tuple((name, one.encode) for name, one in types.items() if one.encode)
        cls._decoders = tuple((name, one.decode) for name, one in types.items() if one.decode)

    def __post_init__(self) -> None:
        values = vars(self)
        for name, check in self._checks:
            try:
                values[name] = check(values[name])
            except Unfit as unfit:
                raise SceneError(type(self).__name__, name, unfit) from None

    @classmethod
    def assemble(cls, values: Mapping[str, Any]) -> Self:
        """A record of values that are canonical already; other fields are at their defaults."""
        record = object.__new__(cls)
        vars(record).update(cls._blank)
        vars(record).update(values)
        return record

    def alike(self, **columns: Sequence[Any]) -> list[Self]:
        """A record for each row of the columns, in all else like this one."""
        checked = [self._check_column(name, values) for name, values in columns.items()]
        records = []
        for row in zip(*checked, strict=True):
            record = object.__new__(type(self))
            vars(record).update(vars(self))
            vars(record).update(zip(columns, row, strict=True))
            records.append(record)
        return records

    @classmethod
    def _check_column(cls, name: str, values: Sequence[Any]) -> list[Any]:
        check = cls.field_types[name].check
        try:
            if set(map(type, values)) <= {str, NoneType}:  # of texts, each distinct one once
                return list(map({text: check(text) for text in set(values)}.__getitem__, values))
            return list(map(check, values))
        except Unfit as unfit:
            raise SceneError(cls.__name__, name, unfit) from None

    def to_json(self) -> dict[str, Json]:
        data = dict(vars(self))
        for name, encode in self._encoders:
            data[name] = encode(data[name])
        for name in self.optional:
            if not data[name]:
                del data[name]
        return data

    @classmethod
    def from_json(cls, data: Json) -> Self:
        if not isinstance(data, Mapping):
            raise SceneError(f"{cls.__name__}: {shown(data)} is not a JSON object")
        if unknown := sorted(set(data) - set(cls.field_types)):
            raise SceneError(f"{cls.__name__}: unknown field {unknown[0]!r}")
        if missing := [name for name in cls._required if name not in data]:
            raise SceneError(f"{cls.__name__}: {', '.join(missing)} missing")
        record = cls.assemble(data)
        values = vars(record)
        for name, decode in cls._decoders:
            if name in data:
                values[name] = decode(values[name])
        record.__post_init__()
        return record

    @classmethod
    def schema(cls) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {name: dict(one.schema) for name, one in cls.field_types.items()},
            "required": [name for name in cls.field_types if name not in cls.optional],
            "additionalProperties": False,
        }


def _default(cls: type, name: str) -> Any:
    """The default of a field, read before `dataclass` has worked on the class."""
    default = getattr(cls, name, MISSING)
    if not isinstance(default, Field):
        return default
    return default.default if default.default_factory is MISSING else default.default_factory()


def record_type(record: type[Record], kind: str = "record") -> FieldType:
    """The type of a field that holds a record."""

    def check(value: Any) -> Record:
        if isinstance(value, record):
            return value
        raise Unfit(f"is not a {record.__name__}", value)

    return FieldType(
        kind, check, record.schema(), encode=lambda value: value.to_json(), decode=record.from_json
    )
