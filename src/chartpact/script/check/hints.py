"""What to write instead: hints for names that a script does not have."""

import ast
from collections.abc import Iterable, Mapping

from chartpact.prices import DERIVED, STORED
from chartpact.problem import did_you_mean
from chartpact.script.check.checked import Checked
from chartpact.script.check.scopes import local_names

OHLCV_NUMBERS = frozenset(
    ("bar_index", "time", "close_time", "trading_day", "tick_size", *STORED, *DERIVED)
)

_ELSEWHERE = {  # names that people know from Python and Pine
    "round": "write math.round(x), or ta.round(s) of a series",
    **dict.fromkeys(("np", "pd"), "series have operators: a - b; ta has the functions"),
    "set": "use a dict, or a list",
    "isinstance": 'write type(x) == "int"',
    "map": "write [f(x) for x in values]",
    "filter": "write [x for x in values if f(x)]",
    **dict.fromkeys(("na", "nan"), "na is None in a list; test with ta.isna(x)"),
    "true": "write True",
    "false": "write False",
    **dict.fromkeys(("null", "none"), "write None"),
    "bar_index": "write ohlcv.bar_index, or count the bars: for i in range(len(ohlcv))",
    "input": "declare it in PARAMS and read params[name]",
    "indicator": "the title stands in META",
    "plot": "write chart.line(s, title, color)",
    **dict.fromkeys(
        ("plotshape", "plotchar", "plotarrow"),
        "write chart.shape(cond), or chart.dot(cond, y, label=name) for a signal",
    ),
    **dict.fromkeys(("plotcandle", "plotbar"), "write chart.candles(o, h, l, c)"),
    "bgcolor": "write chart.background(colors)",
    "barcolor": "write chart.bar_color(colors)",
    "polyline": "write chart.new_polyline(points)",
    "linefill": "write chart.new_linefill(line1, line2, color)",
    "hline": "write chart.hline(y)",
    "fill": "write chart.fill(a, b)",
    "label": "write chart.new_label(x, y, text)",
    "line": "write chart.line(s), or chart.new_line(x1, y1, x2, y2)",
    "box": "write chart.new_box(left, top, right, bottom)",
    "table": "write chart.new_table(position, columns, rows)",
    "request": "write ohlcv.security(timeframe)",
    "timeframe": "write ohlcv.timeframe",
    "syminfo": "write ohlcv.symbol, or ohlcv.tick_size",
    "barstate": "the last bar is len(ohlcv) - 1, and every bar is confirmed",
    "last_bar_index": "write len(ohlcv) - 1",
    **dict.fromkeys(
        ("alert", "alertcondition"),
        "a dot with a label is a signal: chart.dot(cond, y, label=name)",
    ),
    "strategy": "scripts draw, and place no orders",
    "array": "write a list: [0.0] * n, values.append(x), values[i]",
    "matrix": "write a list of lists: [[0.0] * columns for i in range(rows)]",
    "timestamp": "times are UTC milliseconds, as in ohlcv.time[i]",
    "float64": "write float(x)",
    **dict.fromkeys(("eval", "exec", "chr", "ord"), ""),
}


def hint_for_name(
    name: str, checked: Checked, namespaces: Mapping[str, set[str]], visible: Iterable[str]
) -> str:
    """What the author of an unknown name probably meant."""
    for function in checked.functions.values():
        if name in local_names(function):
            return f"it is {function.name}'s own: use it there, or hand it on as a parameter"
    if name in _declared_params(checked.tree):
        return f'write params["{name}"]'
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    if name in OHLCV_NUMBERS:
        return f"did you mean ohlcv.{name}?"
    for space, functions in namespaces.items():
        if name in functions:
            return f"did you mean {space}.{name}?"
    return did_you_mean(name, visible, alike=0.6)  # names are short: below, too much is alike


def _declared_params(tree: ast.Module) -> set[str]:
    """The names in PARAMS, as far as it is well written."""
    return {
        value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List)
        if any(isinstance(name, ast.Name) and name.id == "PARAMS" for name in statement.targets)
        for entry in statement.value.elts
        if isinstance(entry, ast.Dict)
        for key, value in zip(entry.keys, entry.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "name"
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }
