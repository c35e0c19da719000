"""Pine's vocabulary: what each name is called in v6, takes, gives, and becomes in a script.

The functions stand in vocabulary.txt. A series form works on all bars at once, a bar form on the
values of one bar.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

PRICES = ("open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4", "hlcc4")


@dataclass(frozen=True)
class PineFunction:
    """A function of Pine's."""

    name: str
    parameters: tuple[str, ...]
    kind: str  # of its result; "same" that of its first argument, "item" that of an element
    series: str  # the form on all bars, or nothing
    bar: str  # the form on one bar, or nothing
    history: bool = False  # remembers earlier bars
    many: bool = False  # takes any number of values as its last parameter


# Methods of drawn objects: parameters behind the handle, by class.
HANDLES: Mapping[str, str] = {
    "label": "set_x(x) set_y(y) set_xy(x,y) set_text(text) set_color(color)"
    " set_textcolor(textcolor)"
    " set_style(style) set_size(size) set_textalign(textalign) set_tooltip(tooltip)"
    " set_xloc(x,xloc)"
    " set_yloc(yloc) set_text_font_family(text_font_family) set_point(point) delete() get_x():int"
    " get_y():float get_text():string copy():label",
    "line": "set_x1(x) set_y1(y) set_x2(x) set_y2(y) set_xy1(x,y) set_xy2(x,y) set_color(color)"
    " set_style(style) set_width(width) set_extend(extend) set_xloc(x1,x2,xloc)"
    " set_first_point(point)"
    " set_second_point(point) delete() get_x1():int get_y1():float get_x2():int get_y2():float"
    " get_price(x):float copy():line",
    "box": "set_left(left) set_top(top) set_right(right) set_bottom(bottom) set_lefttop(left,top)"
    " set_rightbottom(right,bottom) set_border_color(color) set_border_width(width)"
    " set_border_style(style) set_extend(extend) set_bgcolor(color) set_text(text)"
    " set_text_color(text_color) set_text_size(text_size) set_text_halign(text_halign)"
    " set_text_valign(text_valign) set_text_wrap(text_wrap) set_text_font_family(text_font_family)"
    " set_top_left_point(point) set_bottom_right_point(point)"
    " delete() get_left():int get_top():float get_right():int get_bottom():float copy():box",
    "table": "set_position(position) set_bgcolor(bgcolor) set_border_color(border_color)"
    " set_border_width(border_width) set_frame_color(frame_color) set_frame_width(frame_width)"
    " cell_set_bgcolor(column,row,bgcolor) cell_set_text(column,row,text)"
    " cell_set_text_color(column,row,text_color) cell_set_text_size(column,row,text_size)"
    " cell_set_text_halign(column,row,text_halign) cell_set_text_valign(column,row,text_valign)"
    " cell_set_tooltip(column,row,tooltip) cell_set_width(column,row,width)"
    " cell_set_height(column,row,height) delete()",
    "polyline": "delete()",
    "linefill": "set_color(color) delete() get_line1():line get_line2():line",
}

# What draws or declares at the top of a script, with Pine's order of arguments.
OUTPUTS: Mapping[str, str] = {
    "plot": "series title color linewidth style trackprice histbase offset join editable show_last"
    " display format precision force_overlay linestyle",
    "plotshape": "series title style location color offset text textcolor editable size show_last"
    " display format precision force_overlay",
    "plotchar": "series title char location color offset text textcolor editable size show_last"
    " display format precision force_overlay",
    "plotarrow": "series title colorup colordown offset minheight maxheight editable show_last"
    " display format precision force_overlay",
    "plotcandle": "open high low close title color wickcolor editable show_last bordercolor display"
    " format precision force_overlay",
    "plotbar": "open high low close title color editable show_last display format precision"
    " force_overlay",
    "hline": "price title color linestyle linewidth editable display",
    "fill": "plot1 plot2 color title editable show_last fillgaps display",
    "bgcolor": "color offset editable show_last title display force_overlay",
    "barcolor": "color offset editable show_last title display",
    "alertcondition": "condition title message",
    "alert": "message freq",
    "indicator": "title shorttitle overlay format precision scale max_bars_back timeframe"
    " timeframe_gaps explicit_plot_zorder max_lines_count max_labels_count max_boxes_count"
    " calc_bars_count max_polylines_count dynamic_requests behind_chart",
    "max_bars_back": "var num",
    "nz": "source replacement",
    "na": "x",
    "ta.change": "source length",
    "time": "timeframe session timezone",
    "time_close": "timeframe session timezone",
    "request.security": "symbol timeframe expression gaps lookahead ignore_invalid_symbol currency"
    " calc_bars_count",
    "array.new": "size initial_value",
    "matrix.new": "rows columns initial_value",
    "input": "defval title tooltip inline group display active",
    "input.int": "defval title minval maxval step tooltip inline group confirm display active",
    "input.float": "defval title minval maxval step tooltip inline group confirm display active",
    "input.bool": "defval title tooltip inline group confirm display active",
    "input.string": "defval title options tooltip inline group confirm display active",
    "input.color": "defval title tooltip inline group confirm display active",
    "input.source": "defval title tooltip inline group display active confirm",
    "input.timeframe": "defval title options tooltip inline group confirm display active",
    "input.session": "defval title options tooltip inline group confirm display active",
    "input.symbol": "defval title tooltip inline group confirm display active",
    "input.time": "defval title tooltip inline group confirm display active",
    "input.price": "defval title tooltip inline group confirm display active",
    "input.text_area": "defval title tooltip group confirm display active",
    "input.enum": "defval title options tooltip inline group confirm display active",
}

# Plain values: kind, series form, bar form.
VALUES: Mapping[str, tuple[str, str, str]] = {
    **{name: ("float", name, f"{name}[bar]") for name in PRICES},
    "time": ("int", "ohlcv.time", "ohlcv.time[bar]"),
    "time_close": ("int", "ohlcv.close_time", "ohlcv.close_time[bar]"),
    "time_tradingday": ("int", "ta.time_tradingday(ohlcv)", "day[bar]"),
    "timenow": ("int", "", "ohlcv.close_time[-1]"),
    "bar_index": ("int", "ohlcv.bar_index", "bar"),
    "last_bar_index": ("int", "(len(ohlcv) - 1)", "last"),
    "last_bar_time": ("int", "ohlcv.time[-1]", "ohlcv.time[-1]"),
    "barstate.islast": ("bool", "(ohlcv.bar_index == len(ohlcv) - 1)", "(bar == last)"),
    "session.isfirstbar": ("bool", 'ta.timeframe_change(ohlcv, "1D")', ""),
    "session.isfirstbar_regular": ("bool", 'ta.timeframe_change(ohlcv, "1D")', ""),
    "barstate.isfirst": ("bool", "(ohlcv.bar_index == 0)", "(bar == 0)"),
    "ta.tr": ("float", "ta.tr(ohlcv)", ""),
    "ta.obv": ("float", "ta.obv(close, volume)", ""),
    "ta.vwap": ("float", 'ta.vwap(hlc3, volume, ta.timeframe_change(ohlcv, "1D"))', ""),
    "ta.accdist": ("float", "ta.accdist(ohlcv)", ""),
    "ta.iii": ("float", "ta.iii(ohlcv)", ""),
    "ta.nvi": ("float", "ta.nvi(close, volume)", ""),
    "ta.pvi": ("float", "ta.pvi(close, volume)", ""),
    "ta.pvt": ("float", "ta.pvt(close, volume)", ""),
    "ta.wad": ("float", "ta.wad(ohlcv)", ""),
    "ta.wvad": ("float", "ta.wvad(ohlcv)", ""),
    **{
        name: ("int", f"ta.{name}(ohlcv.time, zone)", "")
        for name in (
            "year",
            "month",
            "dayofmonth",
            "dayofweek",
            "weekofyear",
            "hour",
            "minute",
            "second",
        )
    },
}
# Values that are known before the bars: kind and form.
SETTINGS: Mapping[str, tuple[str, str]] = {
    "barstate.isconfirmed": ("bool", "True"),
    "barstate.ishistory": ("bool", "True"),
    "barstate.isnew": ("bool", "True"),
    "barstate.isrealtime": ("bool", "False"),
    "syminfo.mintick": ("float", "ohlcv.tick_size"),
    "syminfo.tickerid": ("string", "ohlcv.symbol"),
    "syminfo.ticker": ("string", "ohlcv.symbol"),
    "syminfo.description": ("string", "ohlcv.symbol"),
    "syminfo.root": ("string", "ohlcv.symbol"),
    "syminfo.timezone": ("string", "zone"),
    "syminfo.type": ("string", '"futures"'),
    "syminfo.prefix": ("string", '""'),
    "syminfo.currency": ("string", '"USD"'),
    "syminfo.basecurrency": ("string", '""'),
    "syminfo.session": ("string", '"regular"'),
    "syminfo.pointvalue": ("float", "1.0"),
    "chart.is_standard": ("bool", "True"),
    "chart.is_heikinashi": ("bool", "False"),
    "session.ismarket": ("bool", "True"),
    "session.ispremarket": ("bool", "False"),
    "session.ispostmarket": ("bool", "False"),
    "timeframe.period": ("string", "period(ohlcv.timeframe)"),
    "timeframe.multiplier": ("int", "multiplier(ohlcv.timeframe)"),
    "timeframe.isintraday": ("bool", "(ta.in_seconds(ohlcv.timeframe) < 86400)"),
    "timeframe.isdwm": ("bool", "(ta.in_seconds(ohlcv.timeframe) >= 86400)"),
    "timeframe.isminutes": (
        "bool",
        "(60 <= ta.in_seconds(ohlcv.timeframe) and ta.in_seconds(ohlcv.timeframe) < 86400)",
    ),
    "timeframe.isseconds": ("bool", "(ta.in_seconds(ohlcv.timeframe) < 60)"),
    "timeframe.isdaily": ("bool", 'ohlcv.timeframe.endswith("D")'),
    "timeframe.isweekly": ("bool", 'ohlcv.timeframe.endswith("W")'),
    "timeframe.ismonthly": ("bool", 'ohlcv.timeframe.endswith("M")'),
    "chart.fg_color": ("color", '"#d1d4dc"'),
    "chart.bg_color": ("color", '"#131722"'),
    "chart.left_visible_bar_time": ("int", "ohlcv.time[ohlcv.first_visible]"),
    "chart.right_visible_bar_time": ("int", "ohlcv.time[-1]"),
    "math.pi": ("float", "math.pi"),
    "math.e": ("float", "math.e"),
    "math.phi": ("float", "1.618033988749895"),
    "math.rphi": ("float", "0.618033988749895"),
    **{
        f"dayofweek.{day}": ("int", str(number))
        for number, day in enumerate(
            "sunday monday tuesday wednesday thursday friday saturday".split(), 1
        )
    },
}
# Names of constants whose last part is the text itself.
TEXTS = (
    "shape",
    "location",
    "size",
    "position",
    "extend",
    "xloc",
    "yloc",
    "order",
    "scale",
    "display",
    "format",
    "barmerge",
    "alert",
    "currency",
    "session",
    "adjustment",
    "backadjustment",
)
TEXT_PREFIXES: Mapping[str, str] = {
    "label.style_": "",
    "line.style_": "",
    "hline.style_": "",
    "plot.style_": "",
    "plot.linestyle_": "",
    "text.align_": "",
    "text.wrap_": "",
    "text.format_": "",
    "font.family_": "",
}

REFUSED: Mapping[str, str] = {
    "request.security_lower_tf": "bars of a lower timeframe are not there: run the script on them",
    "request.financial": "scripts read bars alone, no fundamentals",
    "request.economic": "scripts read bars alone, no economic data",
    "request.dividends": "scripts read bars alone, no dividends",
    "request.earnings": "scripts read bars alone, no earnings",
    "request.splits": "scripts read bars alone, no splits",
    "request.currency_rate": "scripts read bars alone, no rates of currencies",
    "request.seed": "scripts read bars alone, no foreign data",
    "request.quandl": "scripts read bars alone, no foreign data",
    "request.footprint": "scripts read bars alone, no footprints",
    "quandl": "scripts read bars alone, no foreign data",
    "financial": "scripts read bars alone, no fundamentals",
    "math.random": "a script gives the same result on the same bars",
    "strategy.entry": "scripts draw, and place no orders",
    "ticker.renko": "scripts see bars of equal time only",
    "ticker.kagi": "scripts see bars of equal time only",
    "ticker.linebreak": "scripts see bars of equal time only",
    "ticker.pointfigure": "scripts see bars of equal time only",
}

# Old names (v1 to v5) and what they are called now.
RENAMED: Mapping[str, str] = {
    **{
        name: f"ta.{name}"
        for name in (
            "alma atr barssince bb bbw cci change cmo cog correlation cross crossover"
            " crossunder cum dev"
            " dmi ema falling highest highestbars hma kc kcw linreg lowest lowestbars macd mfi mom"
            " percentile_linear_interpolation percentile_nearest_rank percentrank"
            " pivothigh pivotlow"
            " range rising rma roc rsi sar sma stdev stoch supertrend swma tr tsi"
            " valuewhen variance"
            " vwap vwma wma wpr obv accdist iii nvi pvi pvt wad wvad median mode"
        ).split()
    },
    **{
        name: f"math.{name}"
        for name in "abs acos asin atan avg ceil cos exp floor log log10 max min pow random round"
        " round_to_mintick sign sin sqrt sum tan todegrees toradians".split()
    },
    "study": "indicator",
    "security": "request.security",
    "tostring": "str.tostring",
    "tonumber": "str.tonumber",
    "tickerid": "syminfo.tickerid",
    "ticker": "syminfo.ticker",
    "period": "timeframe.period",
    "interval": "timeframe.multiplier",
    "isintraday": "timeframe.isintraday",
    "isdaily": "timeframe.isdaily",
    "isweekly": "timeframe.isweekly",
    "ismonthly": "timeframe.ismonthly",
    "isdwm": "timeframe.isdwm",
    "n": "bar_index",
    "heikinashi": "ticker.heikinashi",
    "syminfo.shortname": "syminfo.ticker",
    "resolution": "timeframe.period",
    "financial": "request.financial",
    "quandl": "request.quandl",
    "timeframe.main_period": "timeframe.period",
    "barstate.islastconfirmedhistory": "barstate.islast",
}
OLD_COLORS = frozenset(
    (
        "aqua black blue fuchsia gray green lime maroon navy olive orange purple red"
        " silver teal white yellow"
    ).split()
)
OLD_STYLES: Mapping[str, str] = {
    "line": "line",
    "linebr": "linebr",
    "stepline": "stepline",
    "histogram": "histogram",
    "cross": "cross",
    "area": "area",
    "columns": "columns",
    "circles": "circles",
    "areabr": "areabr",
    "dotted": "dotted",
    "dashed": "dashed",
    "solid": "solid",
}
STYLE_NUMBERS = (
    "line",
    "stepline",
    "histogram",
    "cross",
    "area",
    "columns",
    "circles",
    "linebr",
    "areabr",
)

_LINE = re.compile(
    r"(?P<name>[\w.]+)\((?P<parameters>[^)]*)\): (?P<kind>[\w,<>.]+)(?: = (?P<form>.*))?$"
)


@cache
def functions() -> Mapping[str, PineFunction]:
    """Every function that has a form, by its name in v6."""
    found = {}
    text = resources.files(__package__).joinpath("vocabulary.txt").read_text("utf-8")
    for line in filter(None, text.splitlines()):
        if not line.startswith("#"):
            entry = _entry(line)
            found[entry.name] = entry
    for kind, methods in HANDLES.items():
        for item in methods.split():
            match = re.fullmatch(r"(\w+)\(([\w,]*)\)(?::(\w+))?", item)
            assert match is not None
            parameters = tuple(filter(None, match[2].split(",")))
            found[f"{kind}.{match[1]}"] = PineFunction(
                f"{kind}.{match[1]}", ("id", *parameters), match[3] or "void", "", "METHOD"
            )
    return found


def _entry(line: str) -> PineFunction:
    match = _LINE.match(line)
    assert match is not None, line
    parameters = tuple(filter(None, match["parameters"].split(",")))
    many = bool(parameters) and parameters[-1].endswith("*")
    parameters = tuple(name.rstrip("*") for name in parameters)
    name, kind, form = match["name"], match["kind"], match["form"]
    if name.startswith("ta.") or name == "math.sum":
        short = name.split(".")[1]
        given = ", ".join(f"{{{parameter}}}" for parameter in parameters)
        return PineFunction(name, parameters, kind, form or f"ta.{short}({given})", "", True, many)
    assert form is not None, line
    series, both, bar = form.partition("|")
    remembers = name in ("fixnan", "timeframe.change")
    return PineFunction(
        name, parameters, kind, series.strip(), (bar if both else series).strip(), remembers, many
    )
