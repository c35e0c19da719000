"""The synthetic economic calendar that goes with the bundled samples: recurring releases."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from chartpact.bars.samples.randomnumbers import Stream

FIRST, LAST = date(2022, 4, 4), date(2024, 4, 12)
SOURCE = "synthetic sample"
FETCHED = datetime(2024, 4, 6, tzinfo=UTC)  # what comes later has no actual value yet
WEEKDAYS = "MON TUE WED THU FRI".split()
# by the first letters of a release's id: its country, its currency, and where it is released
PLACES = {
    "us": ("US", "USD", "America/New_York"),
    "eu": ("EU", "EUR", "Europe/Berlin"),
    "de": ("DE", "EUR", "Europe/Berlin"),
    "gb": ("GB", "GBP", "Europe/London"),
}
# id | title | impact | when | at what time there | level, spread, decimals and unit of its figures
RELEASES = """
us-nfp          | Non-Farm Payrolls             | high    | month 1 FRI         | 08:30     | 205 60 0 K
us-unemployment | Unemployment Rate             | high    | month 1 FRI         | 08:30     | 3.7 0.1 1 %
us-cpi          | CPI y/y                       | high    | month 2 TUE         | 08:30     | 3.3 0.2 1 %
us-retail       | Retail Sales m/m              | medium  | month 2 THU         | 08:30     | 0.3 0.4 1 %
us-pmi          | Services PMI                  | medium  | month 1 TUE         | 10:00     | 52.5 0.8 1
us-claims       | Initial Jobless Claims        | medium  | week THU            | 08:30     | 215 8 0 K
us-oil          | Crude Oil Inventories         | low     | week WED            | 10:30     | 0.5 3 1 M
us-rate         | Federal Funds Rate            | high    | every 42 2022-04-20 | 14:00     | 4.5 0 2 %
us-press        | Central Bank Press Conference | high    | every 42 2022-04-20 | 14:30     |
us-speech       | Central Bank Chair Speaks     | medium  | month 3 THU         | tentative |
eu-rate         | Main Refinancing Rate         | high    | every 42 2022-04-07 | 14:15     | 4 0 2 %
eu-cpi          | CPI Flash Estimate y/y        | high    | month 1 WED         | 11:00     | 2.8 0.2 1 %
de-climate      | Business Climate              | medium  | month 4 MON         | 10:00     | 86 1.2 1
gb-gdp          | GDP m/m                       | medium  | month 2 WED         | 07:00     | 0.1 0.2 1 %
gb-cpi          | CPI y/y                       | high    | month 3 WED         | 07:00     | 3.8 0.3 1 %
us-independence | Bank Holiday                  | holiday | year 7 4            | all day   |
us-christmas    | Bank Holiday                  | holiday | year 12 25          | all day   |
gb-patrick      | Regional Bank Holiday         | holiday | year 3 18           | all day   |
"""  # noqa: E501


@dataclass(frozen=True)
class Event:
    """One entry of an economic calendar; times are UTC ms, figures are texts as published."""

    id: str
    title: str
    country: str
    currency: str
    time_utc: int
    all_day: bool
    tentative: bool
    impact: str  # holiday, low, medium or high
    actual: str | None
    forecast: str | None
    previous: str | None
    revised: str | None
    unit: str | None
    period: str | None
    source: str
    fetched_at: int


@dataclass(frozen=True)
class Release:
    """A figure or an occasion that comes again and again."""

    id: str
    title: str
    impact: str
    when: list[str]  # month NTH WEEKDAY, week WEEKDAY, every DAYS FIRST, or year MONTH DAY
    at: str  # HH:MM on the clocks of its place, or how the day is kept
    figures: list[str]

    @classmethod
    def read(cls, row: str) -> "Release":
        """The release that a row of the table describes."""
        name, title, impact, when, at, figures = (cell.strip() for cell in row.split("|"))
        return cls(name, title, impact, when.split(), at, figures.split())

    @property
    def unit(self) -> str | None:
        return self.figures[3] if len(self.figures) > 3 else None


@lru_cache(maxsize=1)
def calendar() -> tuple[Event, ...]:
    """All events of the samples' weeks and the week after them, in the order of time."""
    releases = map(Release.read, RELEASES.strip().splitlines())
    events = [event for release in releases for event in _occurrences(release)]
    return tuple(sorted(events, key=lambda event: (event.time_utc, event.id)))


def timed_releases(
    currencies: Collection[str], impacts: Collection[str]
) -> Iterator[tuple[int, str]]:
    """The time (UTC ms) and the impact of each timed event of these currencies, without figures."""
    for release in map(Release.read, RELEASES.strip().splitlines()):
        wanted = release.impact in impacts and PLACES[release.id[:2]][1] in currencies
        if wanted and ":" in release.at:
            for _, when in _moments(release):
                yield int(when.timestamp()) * 1_000, release.impact


def _moments(release: Release) -> Iterator[tuple[date, datetime]]:
    clock = time.fromisoformat(release.at) if ":" in release.at else time(0)
    zone = ZoneInfo(PLACES[release.id[:2]][2])
    return ((day, datetime.combine(day, clock, zone)) for day in _days(release.when))


def _occurrences(release: Release) -> Iterator[Event]:
    chance = Stream(sum(release.id.encode()) * 7919)
    country, currency, _ = PLACES[release.id[:2]]
    timed = ":" in release.at
    previous: str | None = None
    for day, when in _moments(release):
        forecast, actual, revised = _figures(release, chance)
        known = when < FETCHED
        yield Event(
            id=f"{release.id}-{day:%Y%m%d}",
            title=release.title,
            country=country,
            currency=currency,
            time_utc=int(when.timestamp()) * 1_000,
            all_day=not timed,
            tentative=release.at == "tentative",
            impact=release.impact,
            actual=actual if known else None,
            forecast=forecast,
            previous=previous,
            revised=revised if known and previous else None,
            unit=release.unit,
            period=_period(release, day),
            source=SOURCE,
            fetched_at=int(FETCHED.timestamp()) * 1_000,
        )
        previous = actual


def _figures(release: Release, chance: Stream) -> tuple[str | None, str | None, str | None]:
    """The forecast, the actual value, and the revision of the one before."""
    if not release.figures:
        return None, None, None
    level, spread, decimals = (float(figure) for figure in release.figures[:3])
    expected, surprise, revision, revises = chance.uniform(4).tolist()
    forecast = level + spread * (2 * expected - 1)
    actual = forecast + spread * (2 * surprise - 1)
    changed = forecast + spread * (2 * revision - 1)

    def text(figure: float) -> str:
        return f"{figure:.{int(decimals)}f}"

    return text(forecast), text(actual), text(changed) if revises < 0.2 else None


def _period(release: Release, day: date) -> str | None:
    """The month that the figures of a monthly release are about: the one before."""
    if release.when[0] != "month" or not release.figures:
        return None
    return f"{day.replace(day=1) - timedelta(days=1):%Y-%m}"


def _days(when: list[str]) -> Iterator[date]:
    for number in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=number)
        match when:
            case ["month", nth, weekday]:
                hit = _is(weekday, day) and (day.day - 1) // 7 == int(nth) - 1
            case ["week", weekday]:
                hit = _is(weekday, day)
            case ["every", days, first]:
                hit = (day - date.fromisoformat(first)).days % int(days) == 0
            case _:
                hit = [str(day.month), str(day.day)] == when[1:]
        if hit:
            yield day


def _is(weekday: str, day: date) -> bool:
    return day.weekday() == WEEKDAYS.index(weekday)
