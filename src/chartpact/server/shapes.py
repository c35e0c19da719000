"""What callers send and what they get, as typed values: one set for MCP and REST."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    create_model,
    model_validator,
)
from pydantic.config import JsonDict

from chartpact.bars.options import LoadOptions
from chartpact.clock.markets import Market
from chartpact.contracts.language.document import MAX_BYTES
from chartpact.library.scripts import QUOTA
from chartpact.options import read_table
from chartpact.render.options import Theme
from chartpact.script.check.declared import MOST_PARAMS
from chartpact.script.limits import Limits
from chartpact.studies import answer as studied
from chartpact.studies.answer import StudyAnswer
from chartpact.studies.ask import Unit

MARKET = "trades every day, Monday to Friday, or on an exchange; without it, by the symbol"
Format = Literal["png", "svg", "summary", "series"]
SampleShape = Literal["wide", "tall"]  # of the chart on the page
Plain = bool | int | float | str | None

Value = TypeVar("Value")
# An optional field is left out where it has no value; elsewhere null has a meaning.
Optional = Annotated[Value | None, Field(exclude_if=lambda value: value is None)]


# A request may be wrong in a million places, and reporting all of them takes long. Only the first
# is reported, and what is too long is not validated.
MOST_BARS = 200_000
MOST_ENTRIES = 1000
MOST_FIELDS = 100


# Clients see the true limit in the schema. Validation allows more, so that the verb can refuse with
# a clearer sentence. `maxItems` that depend on the server's settings are named by this key.
LIMIT = "x-chartpact-limit"
PER_CHART: JsonDict = {LIMIT: "indicators_per_chart"}
INLINE: JsonDict = {LIMIT: "inline_bars"}
SCRIPT_LIMIT: JsonDict = {"maxLength": Limits().source_bytes}
NAME_LIMIT: JsonDict = {"maxLength": 64}
LIBRARY_LIMIT: JsonDict = {"maxItems": QUOTA.texts}


def declare_limits(schema: Any, limits: Mapping[str, int]) -> None:
    """Puts limits of this server, by their names, into a JSON Schema."""
    if isinstance(schema, dict) and LIMIT in schema:
        limit = limits[schema.pop(LIMIT)]
        if "maxItems" in schema:  # a union has the key of its list too
            schema["maxItems"] = limit
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            declare_limits(part, limits)


def _check_fields(data: Any) -> Any:
    if isinstance(data, dict) and len(data) > MOST_FIELDS:
        raise ValueError(f"{len(data)} fields are more than {MOST_FIELDS}")
    return data


_PER_BAR = Field(fail_fast=True, max_length=MOST_BARS, json_schema_extra=INLINE)
Times = Annotated[list[int], _PER_BAR]
Prices = Annotated[list[float], _PER_BAR]
Volumes = Annotated[list[float | None], _PER_BAR]
Schema = Annotated[list[dict[str, Any]], Field(fail_fast=True, max_length=MOST_PARAMS)]


class Incoming(BaseModel):
    """Something a caller sends."""

    check_fields = model_validator(mode="before")(_check_fields)


class WireModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InlineBars(Incoming, WireModel):
    """Bars of the caller's own; times are UTC ms (or s), each bar's opening."""

    time: Times
    open: Prices
    high: Prices
    low: Prices
    close: Prices
    volume: Volumes | None = Field(None, description="null where none was reported")
    symbol: str = Field("", max_length=64)
    timeframe: str = Field("", max_length=8)
    market: Market | None = Field(None, description=MARKET)


class AskedIndicator(Incoming):
    """An indicator and its parameters, such as {"name": "rsi", "period": 7}."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(max_length=64)


def _check_asked(value: Any) -> Any:
    # pydantic would report both shapes of the union, by the names of our models.
    named = value.get("name") if isinstance(value, dict) else value
    if not isinstance(named, str | AskedIndicator):
        raise ValueError('an indicator is "rsi:period=7" or {"name": "rsi", "period": 7}')
    return value


def _make_list(value: Any) -> Any:
    return [value] if isinstance(value, str | dict | AskedIndicator) else value


Text = Annotated[str, Field(max_length=2000)]
Asked = Annotated[Text | AskedIndicator, BeforeValidator(_check_asked)]
Several = Annotated[
    list[Asked], Field(fail_fast=True, max_length=MOST_ENTRIES, json_schema_extra=PER_CHART)
]
Indicated = Annotated[Several, BeforeValidator(_make_list, json_schema_input_type=Asked | Several)]


class ChartAsk(Incoming, WireModel):
    """A chart that is asked for, over REST and as the arguments of the tool `generate_chart`."""

    symbol: str | None = Field(None, max_length=128, description="sample:NAME or SYMBOL@SOURCE")
    indicators: Indicated = Field(
        [],
        description='a list of "rsi:period=7" or {"name": "rsi", "period": 7}; one may stand alone',
    )
    timeframe: str | None = Field(
        None, max_length=8, description="resample to 5m, 15m, 1h, 4h, 1D, 1W, 1M"
    )
    bars: int = Field(200, ge=1, le=50_000, description="show the last so many bars")
    width: int = Field(1200, ge=200, le=4096)
    height: int = Field(800, ge=150, le=4096)
    theme: Theme = "dark"
    format: Format = Field(
        "png",
        description="png: a picture; svg: one as text, of 50 000 letters and more; summary: "
        "no picture; series: no picture, but the values of every bar shown",
    )
    inline_bars: InlineBars | None = Field(
        None, description="bars of your own, instead of a symbol"
    )


class ShortDrawingsAsk(Incoming, WireModel):
    """Drawn objects that are asked for: the arguments of the tools `data_get_pine_…`."""

    study_filter: str = Field("", max_length=200, description="part of a study's name, in its case")
    verbose: bool = Field(False, description="every attribute of every object")
    symbol: str | None = Field(
        None, max_length=128, description="a granted TradingView chart, or a symbol to draw on"
    )
    timeframe: str | None = Field(None, max_length=8)
    indicators: list[str] = Field([], max_length=16, description="what to draw on the symbol")


class DrawingsAsk(ShortDrawingsAsk):
    """The same with a limit, as for labels."""

    max_labels: float = Field(0, ge=-1e9, le=1e9, description="the last so many labels, 50 if 0")


class Draft(Incoming, WireModel):
    """A script that is not kept: it is drawn instead of what has its name."""

    name: str = Field(max_length=64)
    source: str = Field(max_length=262_144, json_schema_extra=SCRIPT_LIMIT)


Until = Annotated[
    int | None,
    Field(
        ge=0,
        le=2**53,
        description="UTC ms: the last bar that is computed and shown",
    ),
]


class SeriesAsk(Incoming, WireModel):
    """A chart that is asked for as columns, whole or a range of its bars."""

    symbol: str = Field(max_length=128, description="sample:NAME or SYMBOL@SOURCE")
    indicators: Indicated = Field([])
    timeframe: str | None = Field(None, max_length=8)
    view: int = Field(
        200, ge=1, le=50_000, description="bars in view, which profiles of the view count"
    )
    first: int | None = Field(
        None, ge=0, description="the first bar of a part; without it the answer is whole"
    )
    last: int | None = Field(None, ge=0, description="the bar after the last one of the part")
    known: int = Field(
        3000, ge=1, le=50_000, description="the last bars whose values a whole answer has"
    )
    drafts: Annotated[list[Draft], Field(fail_fast=True, max_length=4)] = Field(
        [], description="scripts to draw that are kept nowhere"
    )
    to: Until = None


class BarsAfterAsk(Incoming, WireModel):
    """What came after a bar is asked for."""

    symbol: str = Field(max_length=128, description="sample:NAME or SYMBOL@SOURCE")
    timeframe: str | None = Field(None, max_length=8)
    after: int = Field(description="the time of the last bar that is known, in UTC ms")


class FormingBar(WireModel):
    """A bar whose period is not over; its time is UTC ms."""

    time: int
    open: float
    high: float
    low: float
    close: float


class BarsAfter(WireModel):
    """How many bars have closed since, and the one that is still forming, if it is known."""

    closed: int
    forming: FormingBar | None


class SeriesOut(WireModel):
    """A chart for the MCP App."""

    columns: str = Field(description="the answer of POST /api/v1/charts/series, in base64")


class CheckAsk(Incoming, WireModel):
    source: str = Field(max_length=262_144, json_schema_extra=SCRIPT_LIMIT)


class PictureLink(Incoming, WireModel):
    """A chart in the query of an address, as the page has it."""

    symbol: str = Field(max_length=128, description="sample:NAME or SYMBOL@SOURCE")
    tf: str | None = Field(None, max_length=8, description="the timeframe")
    i: list[Text] = Field(
        [],
        max_length=MOST_ENTRIES,
        json_schema_extra=PER_CHART,
        description='such as "rsi:period=7"',
    )
    tz: str = Field("UTC", max_length=64, description="the time zone of the axis")
    bars: int = Field(200, ge=1, le=50_000)
    width: int = Field(1200, ge=200, le=4096)
    height: int = Field(800, ge=150, le=4096)
    theme: Theme = "dark"


class ProveAsk(Incoming, WireModel):
    """What is to be proved: a source, or an indicator by its name, on bars by their name."""

    symbol: str = Field(max_length=128, description="sample:NAME or SYMBOL@SOURCE")
    timeframe: str | None = Field(None, max_length=8)
    source: str | None = Field(None, max_length=262_144, json_schema_extra=SCRIPT_LIMIT)
    indicator: Asked | None = Field(None, description='without a source: such as "rsi:period=7"')
    bars: int = Field(1000, ge=10, le=5000, description="the last so many bars")


class ProofOut(WireModel):
    """Whether it rewrites its past; `late` is what it draws before the bar it was known on."""

    ok: bool
    bars: int
    prefixes: int
    rewritten: dict[str, Any] | None
    sentence: str = Field(description="the outcome for people")
    late: list[dict[str, Any]]
    provisional: list[str]
    failed: str


Signal = Annotated[str, Field(max_length=128)]
Signals = Annotated[list[Signal], Field(max_length=32)]


class StudyOptions(Incoming, WireModel):
    """On which bars signals are studied, and how."""

    symbol: str = Field(max_length=128, description="sample:NAME or SYMBOL@SOURCE")
    timeframe: str | None = Field(None, max_length=8)
    bars: int = Field(5000, ge=10, le=50_000, description="the last so many bars")
    long: Signals = Field([], description="names of signals that speak for a rise")
    short: Signals = Field([], description="names of signals that speak for a fall")
    states: Signals = Field(
        [], description="of a pact in place of signals: changes into TABLE=ROW[:long|short]"
    )
    horizons: Annotated[list[StrictInt], Field(max_length=20)] | None = Field(
        None, description="how many bars later; 1, 3, 10, 20, 50"
    )
    sweep: Signals = Field([], description="values of parameters to try, as period=5..25:5")
    cost_ticks: float | None = Field(None, description="costs a side")
    hold_out: float = Field(0.4, description="the share of the bars, the last, not to look at")
    confirm: bool = Field(False, description="test the best test on the bars held out, once")
    zone: str | None = Field(None, max_length=64, description="time zone of hours of the day")
    unit: Unit = Field("atr", description="of effects")


class StudyCall(StudyOptions):
    """The arguments of `study_signals`."""

    indicator: Asked = Field(description='such as "supertrend:period=7", or a pact')


class StudyAsk(StudyOptions):
    """A study that is asked for over REST: of a source, or of an indicator by its name."""

    source: str | None = Field(None, max_length=262_144, json_schema_extra=SCRIPT_LIMIT)
    indicator: Asked | None = Field(None, description="without a source: its name")
    picture: Theme | None = Field(None, description="the picture in this theme, as SVG")


class StudyOut(StudyAnswer):
    """A study, with its picture where one was asked for."""

    svg: Optional[str] = None


class StudySummary(WireModel):
    """A study for models, without its paths."""

    of: studied.Of
    bars: studied.StudiedBars
    split: studied.Split
    honesty: studied.Honesty
    signals: list[studied.SignalAnswer]
    best: Optional[studied.Best] = None
    confirmed: Optional[studied.Confirmed] = None
    before_known: float | None
    warnings: list[str]
    says: str


def summarise(study: StudyOut) -> StudySummary:
    """A study without what only pictures need."""
    kept = {
        name: getattr(study, name) for name in StudySummary.model_fields if hasattr(study, name)
    }
    return StudySummary(**kept, before_known=study.path.before_known)


class ThumbnailStroke(WireModel):
    """A stroke of a small picture of 62 by 32, as the path of an SVG."""

    path: str
    color: str


class Thumbnails(WireModel):
    thumbnails: dict[str, list[ThumbnailStroke]]


class ReferenceEntry(WireModel):
    name: str
    signature: str
    doc: str
    example: str


class Reference(WireModel):
    """The names of the script language, for editors that complete and explain them."""

    version: str
    entries: list[ReferenceEntry]


class Layout(Incoming, WireModel):
    """How somebody left their page: a JSON object of the page's own making."""

    layout: dict[str, Any] = Field(description="at most 65 536 letters as JSON")


class LayoutOut(WireModel):
    layout: dict[str, Any] | None


class WatchlistIn(Incoming, WireModel):
    """The symbols of a watchlist, in your order."""

    symbols: list[Annotated[str, Field(max_length=128)]] = Field(max_length=200)


class WatchlistOut(WireModel):
    """A list of symbols that you watch; its last change is UTC ms."""

    name: str
    symbols: list[str]
    updated_at: int


class WatchlistsOut(WireModel):
    watchlists: list[WatchlistOut]


class Me(WireModel):
    """Whose page it is, and what they may do here."""

    user: str
    accounts: bool = Field(description="whether the server has accounts and pages for them")
    scripts: bool = Field(description="whether scripts of yours run")
    version: str
    samples: list[str]
    tradingview: list[str] = Field(description="the TradingView charts granted to you, by name")


Contracts = Annotated[list[str], Field(min_length=1, max_length=16), BeforeValidator(_make_list)]
Settings = Annotated[dict[str, Plain], Field(max_length=MOST_FIELDS)]


class StateOptions(Incoming, WireModel):
    """What several contracts are to read, once or again and again."""

    contracts: Contracts = Field(
        description='names of contracts, such as ["bias_ai", "ob_ai"]; list_indicators lists them '
        'as indicators whose source is "pact"'
    )
    symbol: str = Field(
        max_length=128, description="sample:NAME, SYMBOL@SOURCE, or a granted TradingView chart"
    )
    timeframe: str | None = Field(
        None, max_length=8, description="resample to 5m, 15m, 1h, 4h, 1D, 1W, 1M"
    )
    params: Settings = Field(
        {},
        description="parameters of the indicators, each for those that have it, such as pair",
    )
    config: dict[str, Settings] = Field(
        {}, max_length=16, description="settings of a contract, by its name"
    )
    profile: str | None = Field(None, max_length=64, description="a contract's profile")


class StateAsk(StateOptions):
    """What is asked of several contracts, over REST and as the arguments of `read_state`."""

    to: Until = None


CONTRACT_LIMIT: JsonDict = {"maxLength": MAX_BYTES}
ContractText = Annotated[
    str,
    Field(
        max_length=262_144,
        description="the whole contract, in YAML",
        json_schema_extra=CONTRACT_LIMIT,
    ),
]


class ContractIn(Incoming, WireModel):
    """A contract's text."""

    source: ContractText


class DraftAsk(Incoming, WireModel):
    """What a starting contract is written from: a snapshot, or an indicator on a symbol."""

    study: str = Field(max_length=128, description="the study's title, or an indicator's name")
    symbol: str | None = Field(
        None,
        max_length=128,
        description="sample:NAME or SYMBOL@SOURCE, to draw an indicator on, or a granted chart",
    )
    snapshot: dict[str, Any] | None = Field(None, description="a snapshot, in place of a symbol")


class MatchAsk(Incoming, WireModel):
    """A contract, and what it is tried on: a snapshot, or what is drawn on a symbol."""

    contract: str | None = Field(None, max_length=128, description="a contract by its name")
    source: ContractText | None = Field(None, description="a contract's text, in place of a name")
    symbol: str | None = Field(
        None, max_length=128, description="as in read_state; the indicator of its name is drawn"
    )
    timeframe: str | None = Field(None, max_length=8)
    snapshot: dict[str, Any] | None = Field(None, description="a snapshot, in place of a symbol")
    params: Settings = Field({}, description="of the indicator that is drawn")
    config: Settings = Field({}, description="settings of the contract")
    profile: str | None = Field(None, max_length=64, description="a profile of the contract")
    indicators: Indicated = Field(
        default_factory=list, description="what is drawn in the place of the indicator of its name"
    )


class FollowAsk(StateOptions):
    """What is to be followed, over REST and as the arguments of `follow_state`."""

    every: float = Field(60, ge=5, le=86_400, description="seconds between two readings")


class Explained(BaseModel):
    """Something wrong, and what would be right."""

    message: str
    hint: str


class ContractProblem(Explained, WireModel):
    """Something wrong with a contract, and its line in the YAML."""

    line: int | None
    path: str


class ContractOutcome(WireModel):
    """Whether it was done; if not, why not, and nothing was changed."""

    ok: bool
    contract: Optional[str] = None
    strategy: Optional[str] = None
    version: Optional[str] = None
    errors: Optional[list[ContractProblem]] = None
    warnings: Optional[list[str]] = None


class ContractOut(WireModel):
    """A contract; its text only where it was asked for by name."""

    name: str
    version: str
    title: str = Field(description="the study that it reads")
    source: str = Field(description="pact or user")
    text: Optional[str] = None


class StrategyOut(WireModel):
    """A strategy; its text only where it was asked for by name."""

    name: str
    version: str
    about: Optional[str] = None
    inputs: Optional[dict[str, dict[str, Any]]] = None
    tables: Optional[dict[str, list[str]]] = None
    source: str = Field(description="shipped or user")
    text: Optional[str] = None


class StrategyList(WireModel):
    strategies: list[StrategyOut]


class ContractList(WireModel):
    contracts: list[ContractOut]


class ContractVersions(WireModel):
    """The kept versions of a contract, newest first."""

    versions: list[dict[str, Any]]


class MatchedObject(WireModel):
    """A drawn object, the elements that it is part of, and what they read from it."""

    channel: str
    number: int = Field(description="among the objects of its channel, from 1")
    object: Any = Field(description="as the snapshot has it; its texts are data")
    elements: list[str] = Field(description="none: no element claimed it")
    used: bool = Field(description="false: nothing of the state was read from it")
    part: str | None = Field(description="which part of a group it is")
    fields: dict[str, Any] = Field(description="decoded fields, readings, attachments and state")
    violations: list[int] = Field(description="which violations of the reading name it, from 0")


class MatchOut(WireModel):
    """What a contract reads, and what it made of every object of its study."""

    reading: dict[str, Any]
    objects: list[MatchedObject]
    left_out: int = Field(description="objects beyond the first 2000")


class DraftOut(WireModel):
    """A starting contract; texts in quotes were on the chart, and are data."""

    text: str


class FollowOut(WireModel):
    """A contract that is followed; times are UTC ms."""

    id: int
    contract: str
    symbol: str
    timeframe: str | None
    params: dict[str, Plain]
    config: dict[str, Plain]
    profile: str | None
    every: float
    created_at: int
    read_at: int | None
    paused: bool
    stale_since: int | None
    error: str | None


class FollowChange(Incoming, WireModel):
    """What is to change of a follow."""

    paused: bool = Field(
        description="true: it is read no more until this is false; nothing is lost"
    )


class FollowDetail(FollowOut):
    """A follow with what was read last, since when its states count, and the latest changes."""

    reading: dict[str, Any] | None
    states: list[dict[str, Any]]
    changes: list[dict[str, Any]] = Field(description="the newest first, at most 50")


class FollowList(WireModel):
    follows: list[FollowOut]


class StateChanges(WireModel):
    """What changed after a cursor, oldest first, and what counts now.

    `lost_before` is set where changes after the cursor are not kept any more: take the states then.
    Without an id, and with several follows, `follows` lists them.
    """

    id: int | None
    changes: list[dict[str, Any]]
    next: str | None
    more: bool
    lost_before: int | None
    states: list[dict[str, Any]]
    stale_since: int | None
    follows: Optional[list[FollowOut]] = None


class StateOut(WireModel):
    """Typed state: for each contract its state, or the violations that forbid one."""

    as_of: int | None
    source: str
    readings: dict[str, dict[str, Any]]


class ProblemOut(Explained):
    """Something that went wrong, for a program (`kind`) and for a person.

    Errors of scripts have a step, line and column too, errors of contracts a line and a path.
    """

    model_config = ConfigDict(extra="allow")
    kind: str


class ScriptProblem(Explained, WireModel):
    """An error of a script or a warning about it, and its place."""

    step: Literal["parse", "check", "presence", "dry_run", "run"]
    kind: str
    line: int | None
    column: int | None
    name: Optional[str] = None


class CheckOut(WireModel):
    """What the checker says of a source; `ms` is how long it took."""

    ok: bool
    params: list[dict[str, Any]]
    meta: dict[str, Any]
    steps: int
    steps_at_5000: int
    warnings: list[ScriptProblem]
    errors: Optional[list[ScriptProblem]] = None
    ms: float


class SignalOut(WireModel):
    """A signal; `time` is the opening of its bar in UTC ms, null where that is no bar yet."""

    bar: int
    confirmed_bar: int
    time: int | None
    value: float | None
    name: str


class Level(WireModel):
    title: str
    y: float


class DrawnIndicator(WireModel):
    """One indicator of a chart: its last values and signals, or its error.

    `signals` are the latest three of each name, `signal_counts` how many there are in view.
    """

    id: str
    name: str
    params: dict[str, Any]
    label: Optional[str] = None
    last: Optional[dict[str, float | None]] = None
    levels: Optional[list[Level]] = None
    signals: Optional[list[SignalOut]] = None
    signal_counts: Optional[dict[str, int]] = None
    steps: Optional[int] = None
    scene: Optional[dict[str, Any]] = None
    error: Optional[ProblemOut] = None


class ChartOut(WireModel):
    """What was drawn, without the picture; `time` and the scenes only with format "series"."""

    symbol: str
    timeframe: str
    synthetic: bool
    source: str = ""
    fetched: Optional[int] = None
    summary: str
    bars: Optional[int] = None
    last: Optional[dict[str, float | int | None]] = None
    trend: Optional[str] = None
    time: Optional[list[int]] = None
    indicators: list[DrawnIndicator]


class ParamOut(WireModel):
    """One parameter of an indicator, as its PARAMS declare it."""

    name: str
    type: str
    default: Plain = None
    min: int | float | None = None
    max: int | float | None = None
    options: list[Plain] | None = None
    desc: str = ""
    step: Optional[int | float] = None
    group: Optional[str] = None
    inline: Optional[str] = None
    tooltip: Optional[str] = None


class IndicatorOut(WireModel):
    """An indicator; aliases, description and params only where details were asked for."""

    name: str
    title: str
    category: str
    source: str
    aliases: Optional[list[str]] = None
    description: Optional[str] = None
    params: Optional[list[ParamOut]] = None


class Indicators(WireModel):
    indicators: list[IndicatorOut]


class SymbolOut(WireModel):
    symbol: str
    timeframe: str | None  # null: not known before the bars are read
    source: str
    synthetic: bool


class SourceAbout(WireModel):
    """Where symbols come from; some sources have more than can be listed."""

    source: str
    about: str
    more: Optional[int] = None  # symbols that are not listed
    error: Optional[str] = None


class Symbols(WireModel):
    symbols: list[SymbolOut]
    sources: list[SourceAbout]


class StoredBars(WireModel):
    """A file of your own, named NAME@mine: bars, or a calendar; times are UTC ms."""

    name: str
    size: int
    symbol: str
    timeframe: str
    bars: int
    events: int = Field(0, description="of a calendar, which has no bars, symbol or timeframe")
    first: int
    last: int
    notes: list[str] = Field([], description="what was guessed of the file")
    created_at: int


class MyBars(WireModel):
    bars: list[StoredBars]


def _query_fields(table: type) -> dict[str, Any]:
    """The fields of a model that takes the options of a table as texts and numbers."""
    return {
        option.name: (
            (Literal[*option.choices] if option.choices else option.type) | None,
            Field(None, max_length=option.longest, gt=option.above, description=option.help),
        )
        for option in read_table(table).values()
    }


if TYPE_CHECKING:
    LoadQuery = WireModel
else:
    LoadQuery = create_model(
        "LoadQuery",
        __base__=WireModel,
        __doc__="What you know of your file better than it tells.",
        **_query_fields(LoadOptions),
    )


class Outcome(WireModel):
    """Whether it was done; if not, why not, and nothing was changed.

    `warnings` are problems that a script may be used with, such as its cost on more bars.
    """

    ok: bool
    errors: Optional[list[ScriptProblem]] = None
    warnings: Optional[list[ScriptProblem]] = None


class Fork(WireModel):
    source: str
    params_schema: list[dict[str, Any]]


class MyIndicator(WireModel):
    name: str
    title: str
    category: str
    description: str
    created_at: int
    updated_at: int
    shadows_builtin: bool


class MyIndicators(WireModel):
    indicators: list[MyIndicator]


class SourceOut(WireModel):
    name: str
    source: str
    params_schema: list[dict[str, Any]]


class VersionOut(WireModel):
    version: int
    source: Optional[str] = Field(None, description="left out where sources=false")
    source_hash: str
    created_at: int


class Versions(WireModel):
    versions: list[VersionOut]


class UpdatedScript(Incoming, WireModel):
    source: str = Field(max_length=262_144, json_schema_extra=SCRIPT_LIMIT)


class NewScript(UpdatedScript):
    params_schema: Schema | None = None


class Restore(Incoming, WireModel):
    version: StrictInt


class LibraryScript(UpdatedScript):
    name: str = Field(max_length=128)


class Library(Incoming, WireModel):
    format: Literal["chartpact-library-1"]
    scripts: Annotated[
        list[LibraryScript],
        Field(fail_fast=True, max_length=MOST_ENTRIES, json_schema_extra=LIBRARY_LIMIT),
    ]
