"""The picture of a study: the path around the entry, the horizons, and effects in order of time."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from chartpact.clock.walltime import iso
from chartpact.prices import decimals_of
from chartpact.render import typesetting
from chartpact.render.display import (
    Area,
    Circles,
    DisplayList,
    Floats,
    Op,
    Panel,
    Rects,
    Shape,
    Stroke,
    Words,
)
from chartpact.render.numberformat import NumberFormat
from chartpact.render.scales import ValueScale
from chartpact.render.theme import Theme, fade, theme
from chartpact.studies.answer import Horizon, SignalAnswer, StudyAnswer
from chartpact.studies.text import count_bars, excess_of

WIDTH, HEIGHT = 1080, 600
MARGIN, TEXT, SMALL, TITLE = 20.0, 12.0, 11.0, 15.0
HEAD, FOOT = 58.0, 62.0
AXIS = 40.0  # pixels left of a panel, for its values
TICKS_APART = 34.0

Scale = Callable[[float | Floats], Floats]


def compose(answer: StudyAnswer, look: str = "dark") -> DisplayList:
    """The display list of a study."""
    return _Composer(answer, theme(look)).picture()


class _Composer:
    def __init__(self, answer: StudyAnswer, colors: Theme) -> None:
        self.answer, self.theme = answer, colors
        self.unit = "ticks" if answer.unit == "ticks" else "ATR"
        self.ops: list[Op] = []

    def picture(self) -> DisplayList:
        answer, path = self.answer, self.answer.path
        title = f"What followed {path.signal} of {answer.of.name}, {path.side}"
        where = " ".join(filter(None, (answer.bars.symbol, answer.bars.timeframe)))
        synthetic = ", synthetic" if answer.bars.synthetic else ""
        picture = DisplayList(WIDTH, HEIGHT, self.theme.background, f"{title}: {where}")
        self._write(MARGIN, 28, title, self.theme.text, TITLE, "sans-bold")
        about = f"{where}, {answer.bars.count:,} bars{synthetic}; {answer.honesty.tests} tests"
        before = answer.honesty.tests_before
        about += "" if before is None else f", {before} before"
        self._write(MARGIN, 46, about, self.theme.muted, SMALL)
        middle = round(WIDTH * 0.58)
        bottom = HEIGHT - FOOT
        self._draw_path(Area(MARGIN + AXIS, HEAD + 22, middle, bottom - 24))
        half = (HEAD + bottom) / 2
        self._draw_horizons(Area(middle + 24 + AXIS, HEAD + 22, WIDTH - MARGIN, half - 26))
        self._draw_over_time(Area(middle + 24 + AXIS, half + 22, WIDTH - MARGIN, bottom - 24))
        self._write_foot(bottom)
        picture.add(*self.ops)
        return picture

    # ------------------------------------------------------------------------------------ panels

    def _draw_path(self, area: Area) -> None:
        path = self.answer.path
        mean = np.array(path.mean_atr if path.mean_atr is not None else path.mean_ticks)
        band = np.array(path.band_atr if path.band_atr is not None else path.band_ticks)
        offsets = np.arange(path.from_, path.to + 1, dtype=np.float64)
        values = self._panel(
            area,
            "Mean excess around the entry",
            [*mean.tolist(), *band.tolist(), *(-band).tolist()],
        )
        step = area.width / (path.to - path.from_)

        def x(bar: float | Floats) -> Floats:
            return np.asarray(area.left + (np.asarray(bar, dtype=float) - path.from_) * step)

        self._name_bars(area, [path.from_, 0, path.to], x)
        after, chance = x(offsets[offsets >= 0]), band[offsets >= 0]
        shape = (np.append(after, after[::-1]), values.y(np.append(chance, -chance[::-1])))
        self.ops.append(Shape([shape], fill=fade(self.theme.muted, 0.22)))
        drawn, entry = float(x(path.drawn)), float(x(0.0))
        red = fade(self.theme.down, 0.2)
        self.ops.append(Panel(Area(drawn, area.top, entry, area.bottom), red))
        self._zero(area, values)
        before = offsets <= 0
        line = Stroke(self.theme.line, 2.0)
        dashed = Stroke(self.theme.line, 2.0, (4.0, 4.0))
        for part, stroke in ((before, dashed), (offsets >= 0, line)):
            if part.sum() > 1:
                self.ops.append(Shape([(x(offsets[part]), values.y(mean[part]))], stroke))
        self._label(drawn - 4, area.top + 13, "drawn", self.theme.down, "end")
        self._label(entry + 4, area.top + 13, "entered", self.theme.text)
        self._label(area.right - 2, float(values.y(band[-1])) - 5, "what chance gives",
                    self.theme.muted, "end")  # fmt: skip

    def _draw_horizons(self, area: Area) -> None:
        """Of the signal that stands out most, each horizon with its interval."""
        shown = self._signal().horizons
        ends = [end for horizon in shown for end in horizon.interval or ()]
        means = [excess_of(horizon, self.unit) for horizon in shown]
        values = self._panel(area, "Horizons, with 95 % intervals", [*ends, *means])
        self._zero(area, values)
        for i, (horizon, mean) in enumerate(zip(shown, means, strict=True)):
            x = area.left + area.width * (i + 0.5) / len(shown)
            stands = horizon.verdict in ("found", "cost_eats_it")
            if horizon.interval is not None:
                parts = [(np.array([x, x]), values.y(np.array(horizon.interval)))]
                self.ops.append(Shape(parts, Stroke(self.theme.line, 2.0)))
            inside = () if stands else (self.theme.background,)
            for radius, color in zip((5.0, 3.2), (self.theme.line, *inside), strict=False):
                self.ops.append(
                    Circles(np.array([x]), values.y(np.array([mean])), np.array([radius]), color)
                )
            self._label(x, area.bottom + 15, count_bars(horizon.bars), self.theme.muted, "middle")

    def _draw_over_time(self, area: Area) -> None:
        over, split = self.answer.over_time, self.answer.split
        sums = [0.0, *over.sums, *over.held_out_sums]
        values = self._panel(area, "Effects added up, in the order of time", sums)
        first, last = self.answer.bars.first, self.answer.bars.last

        def x(times: Sequence[int]) -> Floats:
            share = (np.array(times, dtype=float) - first) / max(last - first, 1)
            return area.left + area.width * share

        edge = float(x([split.studied_until])[0])
        if split.held_out:
            self.ops.append(
                Panel(Area(edge, area.top, area.right, area.bottom), fade(self.theme.muted, 0.14))
            )
        self._zero(area, values)
        stroke = Stroke(self.theme.line, 2.0)
        for times, part in ((over.times, over.sums), (over.held_out_times, over.held_out_sums)):
            if len(times) > 1:
                self.ops.append(Shape([(x(times), values.y(np.array(part)))], stroke))
        if split.held_out:
            words = "held out" if over.held_out_times else "held out, not looked at"
            room = area.right - edge - 8
            if typesetting.width(words, SMALL) > room:
                words = "held out"
            self._label(area.right - 4, area.bottom - 6, words, self.theme.muted, "end")
        for at, anchor, time in ((area.left, "start", first), (area.right, "end", last)):
            self._label(at, area.bottom + 15, iso(time)[:10], self.theme.muted, anchor)

    def _write_foot(self, top: float) -> None:
        answer = self.answer
        horizon = self._headline()
        tick = answer.unit == "ticks"
        power = horizon.detectable_ticks if tick else horizon.detectable_atr
        facts = [
            f"{horizon.events} events over {count_bars(horizon.bars)}, {horizon.apart} apart",
            f"detectable {power:.2f} {self.unit}",
            "costs not given"
            if answer.costs is None
            else f"costs of {answer.costs.ticks_per_side:g} in ticks a side",
        ]
        if (share := answer.path.before_known) is not None:
            facts.append(f"{share:.0%} of the picture happened before the signal was known")
        self._write(MARGIN, top + 18, "; ".join(facts), self.theme.muted, SMALL)
        says = answer.says if answer.confirmed is None else answer.confirmed.says
        lines = typesetting.wrap(says, TEXT, WIDTH - 2 * MARGIN)
        for i, line in enumerate(lines[:2]):
            self._write(MARGIN, top + 36 + 16 * i, line, self.theme.text, TEXT)

    # ------------------------------------------------------------------------------------- parts

    def _signal(self) -> SignalAnswer:
        path = self.answer.path
        params = self.answer.best.params if self.answer.best is not None else {}
        return next(
            signal
            for signal in self.answer.signals
            if (signal.name, signal.side) == (path.signal, path.side) and signal.params == params
        )

    def _headline(self) -> Horizon:
        return next(h for h in self._signal().horizons if h.bars == self.answer.path.bars)

    def _panel(self, area: Area, title: str, values: Iterable[float]) -> ValueScale:
        """The frame of a panel with its values: 0 is among them."""
        low, high = min(0.0, *values), max(0.0, *values)
        room = (high - low or 1.0) * 0.08
        scale = ValueScale(low - room, high + room, area.top, area.bottom)
        frame = Stroke(self.theme.frame, 1.0)
        self._write(area.left, area.top - 8, title, self.theme.text, TEXT, "sans-bold")
        unit = typesetting.width(title, TEXT, "sans-bold") + 8
        self._write(area.left + unit, area.top - 8, f"in {self.unit}", self.theme.muted, SMALL)
        ticks = scale.ticks(area.top, area.bottom, TICKS_APART, None)
        lines = [(round(area.left), round(scale.y1(tick)), round(area.width), 1) for tick in ticks]
        if lines:
            self.ops.append(Rects(np.array(lines, dtype=np.int64), self.theme.grid))
        written = NumberFormat(decimals_of(ticks[1] - ticks[0]) if len(ticks) > 1 else 2)
        for tick in ticks:
            y = scale.y1(tick) + SMALL * typesetting.CAP_HEIGHT / 2
            if area.top + 4 < y < area.bottom + 4:
                self._label(area.left - 7, y, written(tick), self.theme.muted, "end")
        self.ops.append(Panel(area, None, frame))
        return scale

    def _zero(self, area: Area, values: ValueScale) -> None:
        y = np.full(2, values.y1(0.0))
        ends = np.array([area.left, area.right])
        self.ops.append(Shape([(ends, y)], Stroke(self.theme.muted, 1.0)))

    def _name_bars(self, area: Area, bars: Sequence[int], x: Scale) -> None:
        for bar in bars:
            name = "entry" if bar == 0 else f"{bar:+d} bars".replace("-", "−")
            anchor = "start" if bar < 0 else "middle" if bar == 0 else "end"
            self._label(float(x(bar)), area.bottom + 15, name, self.theme.muted, anchor)

    def _label(self, x: float, y: float, text: str, color: str, anchor: str = "start") -> None:
        self.ops.append(Words(x, y, text, SMALL, color, anchor, halo=self.theme.background))

    def _write(
        self, x: float, y: float, text: str, color: str, size: float, face: str = "sans"
    ) -> None:
        words = typesetting.fit(text, size, WIDTH - MARGIN - x, face)
        self.ops.append(Words(x, y, words, size, color, face=face))
