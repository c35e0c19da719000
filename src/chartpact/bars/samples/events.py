"""The synthetic economic calendar that goes with the bundled samples: recurring releases."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from chartpact.bars.samples.chance import Stream

FIRST, LAST = date(2022, 4, 4), date(2024, 4, 12)
SOURCE = "synthetic sample"
FETCHED = datetime(2024, 4, 6, tzinfo=UTC)  # what comes later has no actual value yet
NEW_YORK, LONDON, FRANKFURT = "America/New_York", "Europe/London", "Europe/Berlin"
MON, TUE, WED, THU, FRI = range(5)


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
    country: str
    currency: str
    impact: str
    when: tuple[Any, ...]  # ("month", nth, weekday), ("week", weekday), ("every", days, first), …
    at: str  # on the wall clock of the zone; "" for a whole day
    zone: str
    unit: str | None = None
    level: float = 0.0
    spread: float = 0.0
    decimals: int = 1
    tentative: bool = False


RELEASES = (
    Release(
        "us-nfp",
        "Non-Farm Payrolls",
        "US",
        "USD",
        "high",
        ("month", 1, FRI),
        "08:30",
        NEW_YORK,
        "K",
        205,
        60,
        0,
    ),
    Release(
        "us-unemployment",
        "Unemployment Rate",
        "US",
        "USD",
        "high",
        ("month", 1, FRI),
        "08:30",
        NEW_YORK,
        "%",
        3.7,
        0.1,
    ),
    Release(
        "us-cpi",
        "CPI y/y",
        "US",
        "USD",
        "high",
        ("month", 2, TUE),
        "08:30",
        NEW_YORK,
        "%",
        3.3,
        0.2,
    ),
    Release(
        "us-retail",
        "Retail Sales m/m",
        "US",
        "USD",
        "medium",
        ("month", 2, THU),
        "08:30",
        NEW_YORK,
        "%",
        0.3,
        0.4,
    ),
    Release(
        "us-pmi",
        "Services PMI",
        "US",
        "USD",
        "medium",
        ("month", 1, TUE),
        "10:00",
        NEW_YORK,
        None,
        52.5,
        0.8,
    ),
    Release(
        "us-claims",
        "Initial Jobless Claims",
        "US",
        "USD",
        "medium",
        ("week", THU),
        "08:30",
        NEW_YORK,
        "K",
        215,
        8,
        0,
    ),
    Release(
        "us-oil",
        "Crude Oil Inventories",
        "US",
        "USD",
        "low",
        ("week", WED),
        "10:30",
        NEW_YORK,
        "M",
        0.5,
        3,
    ),
    Release(
        "us-rate",
        "Federal Funds Rate",
        "US",
        "USD",
        "high",
        ("every", 42, date(2022, 4, 20)),
        "14:00",
        NEW_YORK,
        "%",
        4.5,
        0.0,
        2,
    ),
    Release(
        "us-press",
        "Central Bank Press Conference",
        "US",
        "USD",
        "high",
        ("every", 42, date(2022, 4, 20)),
        "14:30",
        NEW_YORK,
    ),
    Release(
        "us-speech",
        "Central Bank Chair Speaks",
        "US",
        "USD",
        "medium",
        ("month", 3, THU),
        "",
        NEW_YORK,
        tentative=True,
    ),
    Release(
        "eu-rate",
        "Main Refinancing Rate",
        "EU",
        "EUR",
        "high",
        ("every", 42, date(2022, 4, 7)),
        "14:15",
        FRANKFURT,
        "%",
        4.0,
        0.0,
        2,
    ),
    Release(
        "eu-cpi",
        "CPI Flash Estimate y/y",
        "EU",
        "EUR",
        "high",
        ("month", 1, WED),
        "11:00",
        FRANKFURT,
        "%",
        2.8,
        0.2,
    ),
    Release(
        "de-climate",
        "Business Climate",
        "DE",
        "EUR",
        "medium",
        ("month", 4, MON),
        "10:00",
        FRANKFURT,
        None,
        86,
        1.2,
    ),
    Release(
        "gb-gdp",
        "GDP m/m",
        "GB",
        "GBP",
        "medium",
        ("month", 2, WED),
        "07:00",
        LONDON,
        "%",
        0.1,
        0.2,
    ),
    Release(
        "gb-cpi", "CPI y/y", "GB", "GBP", "high", ("month", 3, WED), "07:00", LONDON, "%", 3.8, 0.3
    ),
    Release(
        "us-independence", "Bank Holiday", "US", "USD", "holiday", ("year", 7, 4), "", NEW_YORK
    ),
    Release("us-christmas", "Bank Holiday", "US", "USD", "holiday", ("year", 12, 25), "", NEW_YORK),
    Release(
        "gb-patrick", "Regional Bank Holiday", "GB", "GBP", "holiday", ("year", 3, 18), "", LONDON
    ),
)


@lru_cache(maxsize=1)
def calendar() -> tuple[Event, ...]:
    """All events of the samples' weeks and the week after them, in the order of time."""
    events = [event for release in RELEASES for event in _occurrences(release)]
    return tuple(sorted(events, key=lambda event: (event.time_utc, event.id)))


def _occurrences(release: Release) -> Iterator[Event]:
    chance = Stream(sum(release.id.encode()) * 7919)
    previous: str | None = None
    for day in _days(release.when):
        clock = time.fromisoformat(release.at) if release.at else time(0)
        when = datetime.combine(day, clock, ZoneInfo(release.zone))
        forecast, actual, revised = _figures(release, chance)
        known = when < FETCHED
        yield Event(
            id=f"{release.id}-{day:%Y%m%d}",
            title=release.title,
            country=release.country,
            currency=release.currency,
            time_utc=int(when.timestamp()) * 1_000,
            all_day=not release.at,
            tentative=release.tentative,
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
    if not release.level:
        return None, None, None
    expected, surprise, revision, revises = chance.uniform(4).tolist()
    forecast = release.level + release.spread * (2 * expected - 1)
    actual = forecast + release.spread * (2 * surprise - 1)
    changed = forecast + release.spread * (2 * revision - 1)

    def text(figure: float) -> str:
        return f"{figure:.{release.decimals}f}"

    return text(forecast), text(actual), text(changed) if revises < 0.2 else None


def _period(release: Release, day: date) -> str | None:
    if release.when[0] != "month" or not release.level:
        return None
    return f"{day.replace(day=1) - timedelta(days=1):%Y-%m}"


def _days(when: tuple[Any, ...]) -> Iterator[date]:
    for number in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=number)
        match when:
            case ("month", nth, weekday):
                hit = day.weekday() == weekday and (day.day - 1) // 7 == nth - 1
            case ("week", weekday):
                hit = day.weekday() == weekday
            case ("every", days, first):
                hit = (day - first).days % days == 0
            case _:
                hit = (day.month, day.day) == when[1:]
        if hit:
            yield day
