"""Drawn objects as they are compared: where they stand, and what became of each later."""

import itertools
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chartpact.drawing import Box, DrawnObject, Polyline
from chartpact.lookahead.rounding import Point, begins_with, format_number, is_same, same_heights

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"[-+±−]?\d[\d.,]*")
_METER = re.compile("[\u2580-\u259f]")  # blocks of a bar that shows a share
_SYMBOLS = ("So", "Sm", "Sc")  # categories of arrows, emoji, signs of arithmetic and currencies
ABOVE = {"abovebar": math.inf, "top": math.inf, "belowbar": -math.inf, "bottom": -math.inf}


@dataclass(frozen=True)
class PlacedObject:
    """A drawn object: its points from left to right, and whether it may change."""

    what: str
    points: tuple[Point, ...]
    heights: tuple[float, ...]  # of a box: its top and bottom
    provisional: bool
    id: object = None  # tells objects of one run apart, in the order in which they were made
    made_at: int | None = None  # the time of the bar at which it was made
    text: str = ""
    extends_left: bool = False

    @property
    def bar(self) -> float:
        return self.points[0][0]

    @property
    def words(self) -> set[str]:
        """The words and symbols of its text; digits, signs of numbers and meters may run on."""
        symbols = _METER.sub("", _NUMBER.sub("", self.text))
        return {
            *_WORD.findall(self.text.casefold()),
            *(symbol for symbol in symbols if unicodedata.category(symbol) in _SYMBOLS),
        }

    @property
    def is_somewhere(self) -> bool:
        """Whether it is drawn at all: one that has an na coordinate waits for its place."""
        heights = (*self.heights, *itertools.chain.from_iterable(self.points))
        return not any(map(math.isnan, heights))

    def grew_to(self, other: "PlacedObject", size: int) -> bool:
        """Whether the other is this one, extended to the right if at all, and says no less.

        What reached beyond the last of `size` bars may reach less far, as long as it is there.
        """
        if self.extends_left != other.extends_left or not self.words <= other.words:
            return False
        if not same_heights(self.heights, other.heights):
            return False
        if not len(self.points) == len(other.points) == 2:  # a label, or a polyline that grew
            return begins_with(other.points, self.points)
        if begins_with(other.points, self.points):
            return True
        (left, low), (right, high) = self.points
        _, (other_right, other_high) = other.points
        if not begins_with(other.points, self.points[:1]):
            return False
        if not (other_right > right or other_right >= size - 1):
            return False
        if right == left:  # of one bar: it has no direction yet
            return True
        slope = (high - low) / (right - left)
        return is_same(other_high, high) or is_same(other_high, low + slope * (other_right - left))

    def moved_to(self, other: "PlacedObject") -> bool:
        """Whether the other begins where this one does, and stands elsewhere."""
        if self.bar != other.bar:
            return False
        if self.heights:
            pairs = itertools.product(self.heights, other.heights)
            return any(is_same(height, another) for height, another in pairs)
        return len(self.points) == 1 or begins_with(other.points, self.points[:1])

    def has_handle_of(self, other: "PlacedObject") -> bool:
        """Whether both were made at the same bar, as the same of all objects."""
        return self.id == other.id and self.made_at == other.made_at is not None

    def __str__(self) -> str:
        prices = self.heights or tuple(price for _, price in self.points)
        numbers = dict.fromkeys(format_number(price) for price in (*prices[:1], *prices[-1:]))
        says = f"{self.text[:40]!r} " if self.text else ""
        at = "" if math.isinf(prices[0]) else "at "
        extended = ", extended to the left" if self.extends_left else ""
        return f"{says}from bar {self.bar:.0f} {at}{' and '.join(numbers)}{extended}"


def place(item: DrawnObject) -> PlacedObject:
    if isinstance(item, Polyline):
        points = tuple((float(point.bar), point.y) for point in item.points)
        return PlacedObject(item.noun, points, (), item.provisional, item.id)
    values: Mapping[str, Any] = item.__dict__
    bars = [_bar(values[name]) for name in item.places]
    prices = [math.nan if values[name] is None else values[name] for name in item.heights]
    if values.get("yloc") in ABOVE:  # a label above or below its bar, whatever its price
        prices = [ABOVE[values["yloc"]]]
    if isinstance(item, Box):
        points = tuple((bar, 0.0) for bar in sorted(bars))
        heights = tuple(sorted(prices))
    else:
        points = tuple(sorted(zip(bars, prices, strict=True), key=lambda point: point[0]))
        heights = ()
    text = values.get("text", "")
    extends_left = values.get("extend") in ("left", "both")
    made_at = values["made_at"] or values[item.places[0]].time
    return PlacedObject(
        item.noun,
        points,
        heights,
        values["provisional"],
        values["id"],
        made_at,
        text,
        extends_left,
    )


def _bar(anchor: Any) -> float:
    """The bar of an anchor; where it has none, its time orders it as well."""
    place = anchor.time if anchor.bar is None else anchor.bar
    return math.nan if place is None else float(place)
