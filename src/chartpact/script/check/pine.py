"""What Pine calls otherwise: from Pine's name to what a script writes here.

The check gives these as hints, and the page "Coming from Pine" is made of them.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from chartpact import palette

_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Declarations and inputs": {
        **dict.fromkeys(
            ("indicator", "study"), 'the title stands in META = {"title": "…", "overlay": True}'
        ),
        "max_bars_back": "leave it out: a script sees all bars",
        "input": "declare it in PARAMS and read params[name]",
        "input.int": 'declare {"name": …, "type": "int", "default": …} in PARAMS',
        "input.float": 'declare {"name": …, "type": "float", "default": …} in PARAMS',
        "input.bool": 'declare {"name": …, "type": "bool", "default": …} in PARAMS',
        "input.string": 'declare {"name": …, "type": "str", or "choice" with "options"} in PARAMS',
        "input.color": 'declare {"name": …, "type": "color", "default": …} in PARAMS',
        "input.source": 'declare {"name": …, "type": "source", "default": "close"} in PARAMS',
        "input.timeframe": 'declare {"name": …, "type": "timeframe", "default": "1D"} in PARAMS',
        "input.session": 'declare {"name": …, "type": "session", "default": …} in PARAMS',
        "input.symbol": 'declare {"name": …, "type": "symbol", "default": …} in PARAMS',
        "input.time": 'declare {"name": …, "type": "time", "default": …} in PARAMS',
        "input.price": 'declare {"name": …, "type": "price", "default": …} in PARAMS',
        "strategy": "scripts draw, and place no orders",
        "library": "scripts import nothing: put the functions into this one",
        "switch": "write if, elif and else",
        "iff": "write a if condition else b, or ta.where(conditions, a, b) of series",
        "runtime.error": 'write fail("why")',
        "log.info": "write print(x)",
        "log.warning": "write print(x)",
        "log.error": "write print(x)",
    },
    "Statements": {
        **dict.fromkeys(
            ("var", "varip"), "give the name a value before the loop over the bars: x = 0"
        ),
        "for i = 0 to 10": "write for i in range(11):",
        "x = if condition": "write x = a if condition else b",
        "x = switch": "write if, elif and else",
        "type Foo": 'keep values in a dict: foo = {"price": 0.0}',
        "enum Foo": "write the names as texts",
    },
    "Bars and time": {
        "bar_index": "write ohlcv.bar_index, or count the bars: for i in range(len(ohlcv))",
        "last_bar_index": "write len(ohlcv) - 1",
        "barstate": "the last bar is len(ohlcv) - 1, and every bar is confirmed",
        "chart.left_visible_bar_time": "write ohlcv.time[ohlcv.first_visible]",
        **dict.fromkeys(
            ("ticker.new", "ticker.inherit", "ticker.standard"),
            'declare {"name": …, "type": "symbol"} in PARAMS: params[name] is a second ohlcv',
        ),
        "ticker.heikinashi": "calculate the candles, as fork heikin_ashi does, and write "
        "chart.candles(o, h, l, c)",
        "ticker": "scripts see bars of equal time only: no Renko, Kagi or range bars",
        "timenow": "write ohlcv.close_time[-1]: a script knows no clock but its bars",
        "syminfo": "write ohlcv.symbol, or ohlcv.tick_size",
        "syminfo.mintick": "write ohlcv.tick_size",
        "syminfo.tickerid": "write ohlcv.symbol",
        "syminfo.timezone": "write ohlcv.day_roll, which names it",
        "timeframe": "write ohlcv.timeframe",
        "timeframe.period": "write ohlcv.timeframe",
        "timeframe.change": 'write ta.timeframe_change(ohlcv, "1D")',
        "timeframe.in_seconds": "write ta.in_seconds(timeframe)",
        "timestamp": "times are UTC milliseconds, as in ohlcv.time[i]",
        "time_close": "write ohlcv.close_time",
        "time_tradingday": "write ohlcv.trading_day, or in milliseconds ta.time_tradingday(ohlcv)",
        **{
            f"session.{flag}": f'write ta.session_{flag}(ohlcv, "0930-1600:23456", tz)'
            for flag in (
                *("isfirstbar", "isfirstbar_regular", "islastbar", "islastbar_regular"),
                *("ismarket", "ispremarket", "ispostmarket"),
            )
        },
        "request": "write ohlcv.security(timeframe)",
        **dict.fromkeys(
            ("request.security", "security"),
            'write ohlcv.security("1D"), or ohlcv.security("1D", lambda d: …)',
        ),
        **dict.fromkeys(
            (
                *("request.financial", "request.economic", "request.dividends", "request.splits"),
                *("request.earnings", "request.currency_rate", "request.seed", "request.quandl"),
            ),
            "scripts read bars alone: there are no fundamentals, rates or economic data",
        ),
        "request.security_lower_tf": "run on the shorter bars, and write ohlcv.security(timeframe)"
        " for the longer ones",
        "na": "na is None in a list; test with ta.isna(x)",
        "nz": "write ta.nz(s)",
        "fixnan": "write ta.fixnan(s)",
    },
    "Plots": {
        "plot": "write chart.line(s, title, color)",
        **dict.fromkeys(
            ("plotshape", "plotchar", "plotarrow"),
            "write chart.shape(cond), or chart.dot(cond, y, label=name) for a signal",
        ),
        **dict.fromkeys(("plotcandle", "plotbar"), "write chart.candles(o, h, l, c)"),
        "bgcolor": "write chart.background(colors)",
        "barcolor": "write chart.bar_color(colors)",
        "hline": "write chart.hline(y)",
        "fill": "write chart.fill(a, b)",
        **dict.fromkeys(
            ("alert", "alertcondition"),
            "a dot with a label is a signal: chart.dot(cond, y, label=name)",
        ),
    },
    "Drawn objects": {
        **dict.fromkeys(("label", "label.new"), "write chart.new_label(x, y, text)"),
        "line": "write chart.line(s), or chart.new_line(x1, y1, x2, y2)",
        "line.new": "write chart.new_line(x1, y1, x2, y2)",
        **dict.fromkeys(("box", "box.new"), "write chart.new_box(left, top, right, bottom)"),
        **dict.fromkeys(("table", "table.new"), "write chart.new_table(position, columns, rows)"),
        **dict.fromkeys(("polyline", "polyline.new"), "write chart.new_polyline(points)"),
        **dict.fromkeys(
            ("linefill", "linefill.new"), "write chart.new_linefill(line1, line2, color)"
        ),
        "chart.point": "a point is a pair: (bar, price)",
    },
    "Styles, sizes and places": {
        **{
            space: f'write the name as a text: "{name}"'
            for space, name in (
                *(("shape", "triangleup"), ("location", "abovebar"), ("size", "small")),
                *(("position", "top_right"), ("extend", "right"), ("xloc", "bar_time")),
                *(("yloc", "abovebar"), ("label.style_label_up", "label_up")),
                *(("line.style_dashed", "dashed"), ("hline.style_dotted", "dotted")),
                *(("plot.style_stepline", "stepline"), ("text.align_left", "left")),
                ("font.family_monospace", "monospace"),
            )
        },
        "barmerge": "leave it out: ohlcv.security gives each bar the last complete higher one",
        "display": "leave it out: what is not to be seen is not drawn",
    },
    "Numbers, texts and colours": {
        **{
            f"ta.{name}": f"write math.{name}(x)"
            for name in ("sin", "cos", "tan", "asin", "acos", "atan")
        },
        "math.abs": "write abs(x), or ta.abs(s) of a series",
        "math.max": "write max(a, b), or ta.max(a, b) of series",
        "math.min": "write min(a, b), or ta.min(a, b) of series",
        "math.round_to_mintick": "write math.round(x / ohlcv.tick_size) * ohlcv.tick_size",
        "math.log10": "write ta.log10(x)",
        "math.random": "a script gives the same result on the same bars",
        "math.todegrees": "write x * 180 / math.pi",
        "math.toradians": "write x * math.pi / 180",
        "str.tostring": "write str(x), text.number(x, decimals), or ohlcv.price_text(x)",
        "format.mintick": "write ohlcv.price_text(x)",
        "str.format": 'write "{} {}".format(a, b)',
        "str.format_time": "write text.time(ms, format, zone)",
        "str.length": "write len(s)",
        "str.tonumber": "write float(s)",
        **dict.fromkeys(
            ("str.contains", "str.pos", "str.replace", "str.split", "str.upper", "str.lower"),
            'texts have methods: "a" in s, s.find(x), s.replace(a, b), s.split(","), s.upper()',
        ),
        "color.new": "write color.alpha(c, a), where a is 1 for opaque and 0 for nothing",
        "color.from_gradient": "write color.gradient(s, lo, hi, from, to)",
        "array.sum": "write sum(values), or math.sum(values), which leaves na out",
        "array.avg": "write math.avg(values)",
        "array.median": "write math.median(values)",
        "order": "write sorted(values), or sorted(values, reverse=True)",
        "array": "write a list: [0.0] * n, values.append(x), values[i]",
        "matrix": "write a list of lists: [[0.0] * columns for i in range(rows)]",
        "map": "write a dict: {}, d[key] = value; for a function, [f(x) for x in values]",
    },
}
SECTIONS = MappingProxyType(_SECTIONS)
STATEMENTS = MappingProxyType(_SECTIONS["Statements"])
HINTS: Mapping[str, str] = MappingProxyType(
    {name: hint for section in _SECTIONS.values() for name, hint in section.items()}
)


# Pine's constants whose names are texts here, by the part of the name that stands before them.
_TEXTS: Mapping[str, Collection[str]] = {
    "color.": palette.COLORS,
    "shape.": palette.SHAPES,
    "location.": palette.LOCATIONS,
    "size.": palette.LABEL_SIZES,
    "position.": palette.POSITIONS,
    "extend.": palette.EXTENDS,
    "xloc.": palette.XLOCS,
    "yloc.": palette.YLOCS,
    "label.style_": palette.LABEL_STYLES,
    "line.style_": palette.LINE_STYLES,
    "hline.style_": palette.BORDER_STYLES,
    "plot.style_": palette.PLOT_STYLES,
    "text.align_": (*palette.HALIGNS, *palette.VALIGNS),
    "font.family_": palette.FONTS,
}

# How a line begins that is no syntax here, with the name of the statement.
_BEGINNINGS = {
    re.compile(r"\s*var(?:ip)?\s+\w"): "var",
    re.compile(r"\s*for\s+\w+\s*="): "for i = 0 to 10",
    re.compile(r"[^=#]*=\s*if\b"): "x = if condition",
    re.compile(r"(?:[^=#]*=)?\s*switch(?:\s+\w|\s*$)"): "x = switch",
    re.compile(r"\s*(?:export\s+)?type\s+\w+\s*$"): "type Foo",
    re.compile(r"\s*(?:export\s+)?enum\s+\w+\s*$"): "enum Foo",
}


def hint_for_statement(lines: Sequence[str]) -> str:
    """What to write for the last of the lines, or for the one whose block it begins, or nothing."""
    for line in reversed(lines[-2:]):
        for beginning, statement in _BEGINNINGS.items():
            if beginning.match(line):
                return STATEMENTS[statement]
    return ""


def hint_for_member(space: str, name: str) -> str:
    """What to write for `space.name` of Pine, or nothing."""
    full = f"{space}.{name}"
    if full in HINTS:
        return HINTS[full]
    for before, names in _TEXTS.items():
        if full.startswith(before) and full.removeprefix(before) in names:
            return f'write "{full.removeprefix(before)}"'
    return ""
