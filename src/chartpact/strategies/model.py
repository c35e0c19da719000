"""The sections of a strategy file as written, checked for shape but not yet for meaning."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from chartpact.checks import Unfit
from chartpact.contracts.language.document import ContractError, YamlNode, refusal
from chartpact.contracts.language.model import (
    ConfigKey,
    Expression,
    FileSection,
    Name,
    Names,
    Number,
    PlainName,
    Scalar,
    Text,
    Version,
    problems_of,
)

UNKNOWN = "unknown"  # as `none` of a fact: where its value is none, nobody knows it
MAX_WEIGHT = 1000
MAX_AGE = 10_000  # bars

Day = Literal["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


def _clock_time(value: Any) -> str:
    hours, _, minutes = value.partition(":") if isinstance(value, str) else ("", "", "")
    plain = len(hours) == len(minutes) == 2 and (hours + minutes).isdigit()
    if not plain or int(hours) * 60 + int(minutes) > 24 * 60 or int(minutes) > 59:
        hint = 'write it in quotes, as in "09:30"'
        raise Unfit(f"{value!r:.60} is not a time of day", hint=hint)
    return hours + minutes


ClockTime = Annotated[str, BeforeValidator(_clock_time)]


class Input(FileSection):
    """A contract whose state the strategy looks at."""

    contract: Name
    major: Annotated[int, Field(ge=0)]
    profile: Text | None = None
    config: dict[Name, Scalar] = Field({})
    params: dict[Name, Scalar] = Field({})
    timeframe: Text | None = None
    max_age: Annotated[int, Field(ge=0, le=MAX_AGE)] = 0


class Window(FileSection):
    """Hours of the day on the clocks of a zone: the end is not part of it."""

    zone: Text
    from_: ClockTime = Field(alias="from")
    to: ClockTime
    days: list[Day] | None = None


class Fact(FileSection):
    """A condition or one of a closed list: all that is looked at after it is finite."""

    is_: Expression = Field(alias="is")
    none: Scalar = None
    say: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_expression(cls, written: Any) -> Any:
        return written if isinstance(written, dict) else {"is": written}

    @property
    def speaks_of_none(self) -> bool:
        return "none" in self.model_fields_set


class StrategyBlock(FileSection):
    """A reason not to."""

    when: Expression
    say: Text


class Factor(FileSection):
    """Something that counts for it."""

    when: Expression
    weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT)]
    say: Text | None = None


class Latch(FileSection):
    """A condition that is remembered, from the closed bar on which it held, within an epoch."""

    set: Expression
    after: Names = Field([])
    unless: Names = Field([])


class DecisionTable(FileSection):
    """A truth table over facts, latches, `blocked`, `grade` and earlier tables."""

    observe: list[Name]
    rows: dict[PlainName, Any]
    give: dict[Name, Expression] = Field({})
    initial: Names = Field([])
    transitions: dict[PlainName, Names] | None = None


class ReservedIds(FileSection):
    """Ids that were used once and never will be again."""

    facts: list[Text] = Field([])
    blocks: list[Text] = Field([])
    factors: list[Text] = Field([])
    latches: list[Text] = Field([])
    tables: list[Text] = Field([])
    config: list[Text] = Field([])
    output: list[Text] = Field([])


class StrategyFile(FileSection):
    """A strategy as it is written."""

    strategy: Name
    version: Version
    about: Text | None = None
    config: dict[Name, ConfigKey] = Field({})
    profiles: dict[PlainName, dict[str, Scalar]] = Field({})
    inputs: dict[Name, Input]
    windows: dict[Name, Window] = Field({})
    facts: dict[Name, Fact]
    blocks: dict[PlainName, StrategyBlock] = Field({})
    factors: dict[PlainName, Factor] = Field({})
    grades: dict[PlainName, Number] = Field({})
    latches: dict[Name, Latch] = Field({})
    epoch: Expression | None = None
    tables: dict[Name, DecisionTable]
    mirror: dict[str, Text] = Field({})
    never: list[dict[str, Any]] = Field([])
    output: dict[Name, Expression] = Field({})
    reserved: ReservedIds = ReservedIds.model_validate({})
    notes: Text | None = None


def validate(root: YamlNode) -> StrategyFile:
    """The sections of a document, or every problem of their shape."""
    if not isinstance(root.value, dict):
        raise refusal(root.line, "this is not a strategy", "begin with `strategy: name`")
    try:
        return StrategyFile.model_validate(root.plain())
    except ValidationError as error:
        raise ContractError(problems_of(error, root, StrategyFile)) from None
