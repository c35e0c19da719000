"""Plots, fills, colours of bars and backgrounds, as calls of `chart`."""

from __future__ import annotations

from typing import Protocol

from chartpact.pine.calls import _literal
from chartpact.pine.errors import PineError
from chartpact.pine.forms import Forms, quote
from chartpact.pine.program import NUMBERS, Output, TypedValue
from chartpact.pine.report import Report
from chartpact.pine.vocabulary import STYLE_NUMBERS


class Page(Protocol):
    """Where calls of `chart` are written."""

    forms: Forms
    report: Report

    def put(self, text: str, line: int = 0) -> None: ...
    def use_helpers(self, form: str) -> None: ...


_CLEAR = '"#00000000"'


def write_output(writer: Page, step: Output) -> None:
    _Outputs(writer, step).write()


class _Outputs:
    def __init__(self, writer: Page, step: Output) -> None:
        self.writer, self.step, self.given = writer, step, step.options
        self.forms = writer.forms

    def write(self) -> None:
        shift = self.given.get("offset")
        if shift is not None and shift.op == "na":
            del self.given["offset"]
        getattr(self, f"_{self.step.name}")()

    def call(self, function: str, *args: str | None) -> None:
        self.writer.put(f"chart.{function}({', '.join(a for a in args if a)})", self.step.line)

    def note(self, status: str, rule: str, message: str) -> None:
        value = TypedValue("na", "na", line=self.step.line, column=1)
        self.writer.report.note(value, status, rule, message)

    # Arguments

    def named(self, name: str, key: str) -> str | None:
        value = self.given.get(key)
        if value is None or value.op == "na":
            return None
        return f"{name}={self.forms.text(value, 'series')}"

    def title(self) -> str | None:
        text = _literal(self.given.get("title"))
        return (
            f"title={self.forms.text(self.given['title'], 'plain')}"
            if isinstance(text, str) and text
            else None
        )

    def color(self, name: str = "color", key: str = "color", default: str = "") -> str | None:
        value = self.given.get(key)
        if value is None:
            return f"{name}={default}" if default else None
        if value.op == "na":
            return f"{name}={_CLEAR}"
        if value.kind != "color":
            raise PineError("this is no colour", self.step.line, 1, key)
        return f"{name}={self._solid(value)}"

    def _solid(self, value: TypedValue) -> str:
        self.forms.clear = value.simple
        try:
            return self.forms.text(value, "series")
        finally:
            self.forms.clear = False

    def offset(self) -> str | None:
        value = self.given.get("offset")
        if value is None or _literal(value) == 0:
            return None
        if not value.simple:
            raise PineError(
                "an offset that is not known before the bars", self.step.line, 1, "offset"
            )
        text = self.forms.text(value, "plain")
        return f"offset={text}" if value.kind == "int" else f"offset=int({text})"

    def width(self) -> str | None:
        value = self.given.get("linewidth")
        if value is None or _literal(value) == 1:
            return None
        return f"width={self.forms.text(value, 'plain')}"

    def overlay(self) -> None:
        value = self.given.get("force_overlay")
        if value is not None and _literal(value) is not False:
            self.note("approximated", "force_overlay", "is drawn in the indicator's own pane")

    # Each

    def _plot(self) -> None:
        self.overlay()
        shift = _literal(self.given.get("offset"))
        if isinstance(shift, int | float) and abs(shift) > 5_000:
            return self.note("left_out", "offset", "a plot that is drawn outside of the chart")
        series = self.forms.as_series(self.given["series"])
        style = self.style()
        if style in ("columns", "histogram"):
            base = self.given.get("histbase")
            base_text = (
                f"base={self.forms.text(base, 'plain')}"
                if base is not None and _literal(base) != 0
                else None
            )
            if self.offset():
                series = f"ta.shift({series}, {self.offset().split('=')[1]})"  # type: ignore[union-attr]
                if _negative(self.given["offset"]):
                    raise PineError(
                        "columns that are drawn to the left", self.step.line, 1, "offset"
                    )
            self.call("bars", series, self.title(), self.color(), base_text)
            return
        style_text = f'style="{style}"' if style and style != "line" else None
        if "style" in self.given and not self.given["style"].const:
            style_text = f"style={self.forms.text(self.given['style'], 'plain')}"
        self.call(
            "line", series, self.title(), self.color(), self.width(), style_text, self.offset()
        )

    def style(self) -> str:
        value = self.given.get("style")
        if value is None:
            return "line"
        constant = _literal(value)
        if isinstance(constant, int) and 0 <= constant < len(STYLE_NUMBERS):
            return STYLE_NUMBERS[constant]
        if isinstance(constant, str):
            return constant
        return "line"

    def _hline(self) -> None:
        style = _literal(self.given.get("linestyle"))
        self.call(
            "hline",
            self.forms.text(
                self.given["price"], "plain" if self.given["price"].simple else "series"
            ),
            self.title(),
            self.color(),
            f'style="{style if isinstance(style, str) else "dashed"}"',
        )

    def _fill(self) -> None:
        a, b = self.given.get("plot1"), self.given.get("plot2")
        if a is None or b is None or "plotted" not in (a.op, b.op):
            raise PineError("fill wants two plots or two levels", self.step.line, 1, "fill")
        if "top_color" in self.given:
            self.note("approximated", "fill", "a gradient is filled with its upper colour")
            self.given["color"] = self.given["top_color"]
        first, second = (
            self.forms.as_series(v.args[0] if v.op == "plotted" else v) for v in (a, b)
        )
        color = self.color(default='"#2962ff33"')
        self.call("fill", first, second, color, "alpha=1", self.title())

    def condition(self, value: TypedValue) -> str:
        if value.kind == "bool":
            return self.forms.as_series(value)
        return (
            f"{self.forms.text(value, 'series', 5)} != 0"
            if not value.simple
            else self.forms.as_series(TypedValue("truth", "bool", [value], simple=True))
        )

    def _plotshape(self) -> None:
        self.overlay()
        series = self.given["series"]
        location = _literal(self.given.get("location")) or "abovebar"
        style = _literal(self.given.get("style")) or "xcross"
        if location == "absolute" and series.kind != "bool":
            where = self.forms.as_series(series)
            where = f"ta.where({where} != 0, {where}, na)" if where.isidentifier() else where
        else:
            where = self.condition(series)
        self.call(
            "shape",
            where,
            f'"{style}"',
            f'"{location}"',
            self.color() or 'color="blue"',
            self.size(),
            self.named("text", "text"),
            self.color("textcolor", "textcolor"),
            self.title(),
            self.offset(),
        )

    def size(self) -> str | None:
        value = self.given.get("size")
        if value is None or _literal(value) == "auto":
            return None
        return f"size={self.forms.text(value, 'plain')}"

    def _plotchar(self) -> None:
        self.overlay()
        series = self.given["series"]
        location = _literal(self.given.get("location")) or "abovebar"
        char = _literal(self.given.get("char"))
        self.note("approximated", "plotchar", "is drawn as a circle with its character")
        text = _literal(self.given.get("text"))
        shown = char if isinstance(char, str) else "★"
        if isinstance(text, str) and text:
            shown = f"{shown} {text}"
        if location == "absolute" and series.kind != "bool":
            where = self.forms.as_series(series)
        else:
            where = self.condition(series)

        self.call(
            "shape",
            where,
            '"circle"',
            f'"{location}"',
            self.color() or 'color="blue"',
            self.size(),
            f"text={quote(shown)}",
            self.color("textcolor", "textcolor"),
            self.title(),
            self.offset(),
        )

    def _plotarrow(self) -> None:
        series = self.forms.as_series(self.given["series"])
        self.note("approximated", "plotarrow", "all arrows have one height")
        up = self.color("color", "colorup", '"teal"')
        down = self.color("color", "colordown", '"red"')
        self.call(
            "shape", f"{series} > 0", '"arrowup"', '"belowbar"', up, self.title(), self.offset()
        )
        self.call(
            "shape", f"{series} < 0", '"arrowdown"', '"abovebar"', down, self.title(), self.offset()
        )

    def _plotcandle(self) -> None:
        prices = [self.forms.as_series(self.given[k]) for k in ("open", "high", "low", "close")]
        self.call(
            "candles",
            *prices,
            self.color(),
            self.color("wick", "wickcolor"),
            self.color("border", "bordercolor"),
            self.title(),
        )

    def _plotbar(self) -> None:
        self.note("approximated", "plotbar", "bars are drawn as candles")
        prices = [self.forms.as_series(self.given[k]) for k in ("open", "high", "low", "close")]
        self.call("candles", *prices, self.color(), self.title())

    def _bgcolor(self) -> None:
        self._colors("background")

    def _barcolor(self) -> None:
        self._colors("bar_color")

    def _colors(self, function: str) -> None:
        value = self.given["color"]
        if value.op == "na":
            return
        if value.simple:
            text = f"[{self.forms.text(value, 'plain')}] * len(ohlcv)"
        else:
            text = self._solid(value)
        if offset := self.offset():
            self.writer.use_helpers("displaced(")
            text = f"displaced({text}, {offset.removeprefix('offset=')})"
        self.call(function, text, self.title())

    def _alertcondition(self) -> None:
        self.note("left_out", "alertcondition", "alerts are made outside of scripts")


def _negative(value: TypedValue) -> bool:
    constant = _literal(value)
    return isinstance(constant, int | float) and constant < 0


_ = NUMBERS
