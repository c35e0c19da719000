"""The sections of a contract file as they are written, checked for shape but not yet for meaning.

Texts that hold expressions are kept as texts; `expressions` gives them types. The published JSON
Schema for editors is made from these classes.
"""

import keyword
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from chartpact.checks import Unfit, is_flag, number, text
from chartpact.contracts.language.document import (
    MAX_PROBLEMS,
    ContractError,
    ContractPath,
    YamlNode,
    contract_problem,
    refusal,
    suggestion,
)
from chartpact.problem import Problem
from chartpact.snapshot import CHANNELS

SCHEMA_ID = "urn:chartpact:schema:contract:1"
MAX_EXPRESSION = 1000
MAX_NAME = 64
MAX_ELEMENTS = 400
MAX_VIEWS = 16  # of views, each of which looks at the one before it
MAX_TOP = 1000  # values that `top` keeps
MAX_STEPS = 8  # of the key of a payload's field
MAX_ENTRIES = 1000  # of an array in a payload

Violation = Literal[
    "missing", "duplicate", "ambiguous", "malformed", "unexpected", "version", "config",
    "unavailable",
]  # fmt: skip
KINDS: tuple[str, ...] = (*get_args(Violation), "illegal_transition")

# Words of the expression language, and of Python, whose parser reads expressions.
RESERVED = frozenset([*"absent chart none true false".split(), *keyword.kwlist])
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_COUNT = re.compile(r"([0-9]{1,6})(?:(\.\.)([0-9]{1,6})?)?")
_VERSION = re.compile(r"(?:0|[1-9][0-9]{0,5})(?:\.(?:0|[1-9][0-9]{0,5})){2}")


def _plain_name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or len(value) > MAX_NAME:
        hint = "use letters, digits and _, beginning with a letter"
        raise Unfit(f"{value!r:.60} is not a name", hint=hint)
    return value


def _name(value: Any, words: frozenset[str] = RESERVED) -> str:
    if _plain_name(value) in words:
        raise Unfit(f"{value!r} is a word of the language", hint="choose another name")
    return str(value)


def _meaning(value: Any) -> str:
    return _name(value, RESERVED - {"none", *keyword.kwlist})


def expression_text(value: Any) -> str:
    if value is None:
        return "none"
    if is_flag(value):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        raise Unfit("an expression is a text", hint="quote it where it begins with [ or {")
    if len(value) > MAX_EXPRESSION:
        hint = f"at most {MAX_EXPRESSION}: name parts of it in reads"
        raise Unfit(f"{len(value)} characters are too many for an expression", hint=hint)
    return value


def _count(value: Any) -> tuple[int, int | None]:
    written = str(value) if isinstance(value, int) and not is_flag(value) else value
    match = _COUNT.fullmatch(written) if isinstance(written, str) else None
    if match is None:
        raise Unfit(f"{value!r:.60} is not a count", hint="write 1, 0..1, 2..4 or 0..")
    low = int(match[1])
    high = low if match[2] is None else None if match[3] is None else int(match[3])
    if high is not None and high < low:
        raise Unfit(f"{value!r} ends before it begins", hint="write the smaller number first")
    return low, high


def _version(value: Any) -> str:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        raise Unfit(f"{value!r:.60} is not a version", hint="write three numbers, as in 1.0.0")
    return value


def _channel(value: Any) -> str:
    if value not in CHANNELS:
        hint = f"use {', '.join(CHANNELS[:-1])} or {CHANNELS[-1]}"
        raise Unfit(f"{value!r:.60} is not known here", hint=hint)
    return str(value)


def _text(value: Any) -> str:
    try:
        return text(value)
    except Unfit as error:
        hint = "write the whole character" if isinstance(value, str) else "put it in quotes"
        raise Unfit(str(error), hint=hint) from None


def _number(value: Any) -> float:
    try:
        return number(value)
    except Unfit:
        raise Unfit(f"{value!r:.60} is not a number") from None


def _scalar(value: Any) -> Any:
    if isinstance(value, dict | list):
        raise Unfit("one value belongs here, not a list or a mapping")
    return value


def _payload_key(value: Any) -> tuple[str | int, ...]:
    steps = value if isinstance(value, list) else [value]
    for step in steps:
        plain = isinstance(step, str | int) and not is_flag(step)
        if not plain or not 0 < len(str(step)) <= MAX_NAME or len(steps) > MAX_STEPS:
            hint = "write a text, or a list of texts and of places in an array"
            raise Unfit(f"{value!r:.60} is not the key of a field", hint=hint)
        if isinstance(step, int) and not 0 <= step < MAX_ENTRIES:
            raise Unfit(f"{step} is not a place in an array", hint=f"write 0 to {MAX_ENTRIES - 1}")
    return tuple(steps)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _or_list(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "array", "items": schema}]}


_SCALAR_SCHEMA = {"type": ["string", "number", "boolean", "null"]}
_COUNT_TEXT = {"type": "string", "pattern": r"^[0-9]+(\.\.[0-9]*)?$"}
Name = Annotated[str, BeforeValidator(_name), Field(pattern=f"^{_NAME.pattern}$")]
PlainName = Annotated[str, BeforeValidator(_plain_name), Field(pattern=f"^{_NAME.pattern}$")]
Meaning = Annotated[str, BeforeValidator(_meaning), Field(pattern=f"^{_NAME.pattern}$")]
Version = Annotated[str, BeforeValidator(_version)]
Channel = Annotated[
    str, BeforeValidator(_channel), WithJsonSchema({"enum": list(CHANNELS), "type": "string"})
]
Text = Annotated[str, BeforeValidator(_text)]
Number = Annotated[float, BeforeValidator(_number)]
Scalar = Annotated[Any, AfterValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]
Expression = Annotated[
    str,
    BeforeValidator(expression_text),
    WithJsonSchema({**_SCALAR_SCHEMA, "maxLength": MAX_EXPRESSION}),
]
Count = Annotated[
    tuple[int, int | None],
    BeforeValidator(_count),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, _COUNT_TEXT]}),
]
PayloadPath = tuple[str | int, ...]
_STEP_SCHEMA = {"type": ["string", "integer"]}
PayloadKey = Annotated[
    PayloadPath, BeforeValidator(_payload_key), WithJsonSchema(_or_list(_STEP_SCHEMA))
]
_NAME_SCHEMA = {"type": "string", "pattern": f"^{_NAME.pattern}$"}
Values = Annotated[
    list[Scalar], BeforeValidator(_as_list), WithJsonSchema(_or_list(_SCALAR_SCHEMA))
]
Names = Annotated[
    list[Text], BeforeValidator(_as_list), WithJsonSchema(_or_list({"type": "string"}))
]


class FileSection(BaseModel):
    """A part of the file: unknown keys are errors, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Identity(FileSection):
    """How to find the indicator on a chart."""

    pine_title: Text
    study_filter: Text | None = None
    short_title: Text | None = None
    script_versions: list[Scalar] | None = None


class ConfigKey(FileSection):
    """Something a user may have customised."""

    type: Literal["color", "number", "bool", "text", "choice", "pattern"]
    default: Scalar = None
    options: list[Text] | None = None
    min: Number | None = None
    max: Number | None = None
    from_: Text | None = Field(None, alias="from")
    input: Names = []
    about: Text | None = None

    @property
    def has_default(self) -> bool:
        return "default" in self.model_fields_set

    @property
    def nullable(self) -> bool:
        return self.has_default and self.default is None

    @property
    def chart_fact(self) -> str | None:
        """The fact of the chart that `from` names."""
        where, _, name = (self.from_ or "").partition(".")
        return name if where == "chart" else None


class MemberSpec(FileSection):
    """One member of a group, chosen from what is left."""

    highest: Expression | None = None
    lowest: Expression | None = None
    where: Expression | None = None
    optional: bool = False
    alike: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> "MemberSpec":
        if len({"highest", "lowest", "where"} & self.model_fields_set) != 1:
            raise Unfit("a part is chosen in one way", hint="write highest, lowest or where")
        return self

    @property
    def choice(self) -> tuple[str, str]:
        """The word that says how it is chosen, and its expression."""
        ways = {"highest": self.highest, "lowest": self.lowest, "where": self.where}
        return next((word, text) for word, text in ways.items() if text is not None)


NumberFormat = Literal["1,234.5", "1.234,5", "1 234.5", "1 234,5", "1'234.5", "1234,5"]


class PayloadField(FileSection):
    """One field of a payload. A `list` has fields of its own, those of each of its entries."""

    type: Literal["text", "number", "bool", "choice", "time", "list"]
    key: PayloadKey | None = None
    format: NumberFormat | None = None
    options: list[Text] | None = None
    min: Number | None = None
    max: Number | None = None
    optional: bool = False
    fields: dict[Name, "PayloadField"] | None = None

    @property
    def nullable(self) -> bool:
        return self.optional and self.type != "list"

    def path(self, name: str) -> PayloadPath:
        """The steps that lead to the field inside a payload: its name, where no key is declared."""
        return (name,) if self.key is None else self.key


def misplaced_words(typed: ConfigKey | PayloadField) -> list[tuple[str, str, str]]:
    """The words that do not go with a type: word, message, hint."""
    faults = []
    if (typed.type == "choice") != (typed.options is not None):
        message = "options belong to a choice, and a choice has them"
        faults.append(("options", message, "options: [A, B]"))
    limited = typed.min is not None or typed.max is not None
    if limited and typed.type not in ("number", "time"):
        faults.append(("min", f"a {typed.type} has no min or max", "remove it"))
    if isinstance(typed, PayloadField):
        if typed.format is not None and typed.type != "number":
            faults.append(("format", f"a {typed.type} has no format", "remove it"))
        if (typed.type == "list") != bool(typed.fields):
            message = "fields belong to a list, and a list has them"
            faults.append(("fields", message, "fields: {price: {type: number}}"))
    return faults


class Decode(FileSection):
    """How a text is read as a payload."""

    of: Expression
    as_: Literal["pattern", "delimiter", "json"] = Field(alias="as")
    pattern: Text | None = None
    tag: Text | None = None
    versions: list[int] | None = None
    fields: dict[Name, PayloadField]


class Attach(FileSection):
    """Which instance of another element belongs to this one."""

    from_: Name = Field(alias="from")
    within: dict[str, list[Expression]]
    where: Expression | None = None
    nearest: Expression | None = None
    count: Count = (1, 1)
    exclusive: bool = True


class Element(FileSection):
    """Something the indicator draws."""

    from_: Name = Field(alias="from")
    where: Expression | None = None
    each: Text | None = None
    group: list[Text] | None = None
    newest: Text | None = None
    per: list[Text] | None = None
    top: Annotated[int, Field(ge=1, le=MAX_TOP)] | None = None
    parts: dict[Name, MemberSpec] | None = None
    count: Count = (0, None)
    decode: Decode | None = None
    reads: dict[Name, Expression] = {}
    attach: dict[Name, Attach] = {}
    key: list[Expression] | None = None
    evicted: Text | None = None
    ignore: Text | None = None
    meaning: Text | None = None
    changes: Text | None = None


class Row(FileSection):
    """A row of a truth table: a state, or a violation."""

    when: Any
    give: dict[Name, Scalar] | None = None
    violation: Violation | None = None
    say: Text | None = None

    @property
    def alternatives(self) -> list[Any]:
        """The maps of `when`: one of them must hold."""
        return self.when if isinstance(self.when, list) else [self.when]


class Machine(FileSection):
    """States as a truth table over finite observations, and the steps between them."""

    observe: dict[Name, Expression]
    rows: dict[PlainName, Row]
    initial: Names
    transitions: dict[PlainName, Names] = {}
    epoch: Expression | None = None
    gone: Text | None = None


class EdgeCase(FileSection):
    """A condition under which the reading is refused."""

    when: Expression
    violation: Violation
    each: Name | None = None
    say: Text | None = None


class Reserved(FileSection):
    """Ids that were used once and never will be again."""

    elements: list[Text] = []
    states: list[Text] = []
    output: list[Text] = []
    config: list[Text] = []
    encodings: list[Text] = []


class Directions(FileSection):
    """The names of events that speak for a rise, and of those that speak for a fall."""

    long: list[Text] = []
    short: list[Text] = []


class EventList(FileSection):
    """A list of the output whose objects are events: something happened at a time.

    `known` is the bar at whose close it became known. The values of the fields in `name` tell one
    kind of event from another.
    """

    time: Name
    known: Name
    name: Annotated[list[Name], BeforeValidator(_as_list), WithJsonSchema(_or_list(_NAME_SCHEMA))]
    side: Directions = Directions()

    def directions(self) -> Iterator[tuple[str, str]]:
        """Each direction with each name that has it."""
        yield from (("long", name) for name in self.side.long)
        yield from (("short", name) for name in self.side.short)


class ContractFile(FileSection):
    """A contract as it is written."""

    contract: Name
    version: Version
    identity: Identity
    config: dict[Name, ConfigKey] = {}
    profiles: dict[PlainName, dict[str, Scalar]] = {}
    timing: Literal["close", "tick"] = "tick"
    history: Literal["settled", "loaded"] = "settled"
    channels: dict[Channel, Literal["signal", "informational", "cosmetic"]]
    encodings: dict[Name, dict[Meaning, Values]] = {}
    elements: dict[Name, Element]
    states: dict[Name, Machine] = {}
    edge_cases: dict[Name, EdgeCase] = {}
    output: dict[str, Any]
    events: dict[str, EventList] = {}
    reserved: Reserved = Reserved()
    notes: Text | None = None

    def role(self, channel: str) -> str | None:
        """The role of a channel; None where it must be empty."""
        return self.channels.get(channel)


class OutputList(FileSection):
    """The form of an output that gives out the instances of an element."""

    from_: Name = Field(alias="from")
    where: Expression | None = None
    split: Name | None = None
    sort: Expression | None = None
    give: dict[str, Any]


def validate(root: YamlNode) -> ContractFile:
    """The sections of a document, or every problem of their shape."""
    if not isinstance(root.value, dict):
        raise refusal(root.line, "this is not a contract", "begin with `contract: name`")
    try:
        return ContractFile.model_validate(root.plain())
    except ValidationError as error:
        raise ContractError(problems_of(error, root, ContractFile)) from None


def problems_of(
    error: ValidationError, root: YamlNode, model: type[FileSection], above: ContractPath = ()
) -> list[Problem]:
    """What pydantic found wrong with a section, with lines, in words for the file's author."""
    faults = []
    for detail in error.errors(include_url=False):
        steps = tuple(step for step in detail["loc"] if step != "[key]")
        place = (*above, *steps)
        faults.append(
            (root.line_of(place[:-1] if detail["type"] == "missing" else place), detail, steps)
        )
    problems: dict[tuple[int, str, str], Problem] = {}
    for line, detail, steps in sorted(faults, key=lambda fault: fault[0]):
        path = ".".join(map(str, (*above, *steps)))
        message, hint = _describe(detail, steps, model)
        problems.setdefault((line, path, message), contract_problem(line, path, message, hint))
        if len(problems) > MAX_PROBLEMS:
            break
    return list(problems.values())


def _describe(detail: Any, steps: ContractPath, model: type[FileSection]) -> tuple[str, str]:
    value = detail.get("input")
    match detail["type"]:
        case "extra_forbidden":
            known = _keys(steps[:-1], model)
            return f"unknown key {steps[-1]!r:.60}", suggestion(str(steps[-1]), known)
        case "missing":
            return f"{steps[-1]} is missing", f"add `{steps[-1]}: …`"
        case "literal_error":
            allowed = detail["ctx"]["expected"].replace("'", "")
            return f"{value!r:.60} is not known here", f"use {allowed}"
        case "value_error" if isinstance(misfit := detail["ctx"]["error"], Unfit):
            return str(misfit), misfit.hint
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{value!r:.60} is not a mapping", "write `name: value` pairs"
        case "list_type":
            return f"{value!r:.60} is not a list", "write [a, b]"
        case "bool_type" | "bool_parsing":
            return f"{value!r:.60} is not true or false", "write true or false"
        case "int_type" | "int_parsing" | "int_from_float":
            return f"{value!r:.60} is not a whole number", "write 1, 2, …"
        case "greater_than_equal" | "less_than_equal":
            (bound, limit), *_ = detail["ctx"].items()
            most = "at least" if bound == "ge" else "at most"
            return f"{value!r:.60} is out of range", f"write {most} {limit}"
    return str(detail["msg"]), ""


def _keys(steps: ContractPath, model: type[FileSection]) -> list[str]:
    """The keys that belong at a place of a section."""
    kind: Any = model
    for step in steps:
        kind = _inside(kind, step)
    return [field.alias or name for name, field in kind.model_fields.items()]


def _inside(kind: Any, step: str | int) -> Any:
    """The type of what stands under a key of a section, or in a mapping or a list."""
    if isinstance(kind, type) and issubclass(kind, FileSection):
        fields = kind.model_fields.items()
        kind = next(field.annotation for name, field in fields if step in (name, field.alias))
        options = [option for option in get_args(kind) if option is not type(None)]
        return options[0] if type(None) in get_args(kind) else kind
    assert get_origin(kind) in (dict, list), kind
    return get_args(kind)[-1]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a contract file, for editors."""
    schema = ContractFile.model_json_schema(by_alias=True)
    listed = OutputList.model_json_schema(by_alias=True)
    values = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Output"}}
    schema["properties"]["output"] = listed["properties"]["give"] = values
    no_list = {"type": "object", "properties": {"from": False}, **values}
    defs = schema["$defs"]
    defs["OutputList"] = listed
    defs["Output"] = {"anyOf": [_SCALAR_SCHEMA, {"$ref": "#/$defs/OutputList"}, no_list]}
    when = _or_list({"$ref": "#/$defs/When"})
    defs["Row"]["properties"]["when"] = {"anyOf": [*when["anyOf"], {"const": "otherwise"}]}
    defs["When"] = {"type": "object", "additionalProperties": _or_list(_SCALAR_SCHEMA)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "chartpact contract",
    }
