"""Calls of Pine's own functions, lowered: inputs, plots, `request.security`, and all the others."""

from __future__ import annotations

import re
from typing import Any

from chartpact.pine import tree as t
from chartpact.pine import vocabulary as words
from chartpact.pine.errors import PineError
from chartpact.pine.lower import Lowering
from chartpact.pine.program import NUMBERS, Output, Set, TypedValue, element, unify

_INPUT_KINDS = {
    "input.int": ("int", "int"),
    "input.integer": ("int", "int"),
    "input.float": ("float", "float"),
    "input.bool": ("bool", "bool"),
    "input.string": ("str", "string"),
    "input.color": ("color", "color"),
    "input.source": ("source", "float"),
    "input.timeframe": ("timeframe", "string"),
    "input.resolution": ("timeframe", "string"),
    "input.session": ("session", "string"),
    "input.symbol": ("symbol", "string"),
    "input.time": ("time", "int"),
    "input.price": ("price", "float"),
    "input.text_area": ("str", "string"),
    "input.enum": ("str", "string"),
}
_LENGTHS = frozenset(
    "length leftbars rightbars occurrence fastlen slowlen siglen atrPeriod diLength adxSmoothing"
    " short_length long_length offset floor".split()
)
_SERIES_LENGTHS = frozenset(
    (
        "ta.sma",
        "ta.highest",
        "ta.lowest",
        "ta.highestbars",
        "ta.lowestbars",
        "ta.wma",
        "math.sum",
        "ta.stdev",
        "ta.variance",
        "ta.dev",
        "ta.change",
        "ta.mom",
        "ta.roc",
        "ta.vwma",
        "ta.linreg",
        "ta.cci",
        "ta.stoch",
        "ta.mfi",
        "ta.rising",
        "ta.falling",
        "ta.range",
        "ta.correlation",
        "ta.swma",
        "ta.percentrank",
        "ta.median",
        "ta.bb",
        "ta.bbw",
    )
)


def call_builtin(
    low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None
) -> TypedValue | None:
    """The value of a call of one of Pine's functions; a plot is put out and gives its series."""
    if name in words.REFUSED:
        raise PineError(words.REFUSED[name], node.line, node.column, name)
    if name in ("indicator", "strategy", "library"):
        _declaration(low, name, node)
        return None
    if name == "input" or name.startswith("input."):
        return _input(low, name, node)
    if name in _SPECIAL:
        special: TypedValue | None = _SPECIAL[name](low, name, node, owner)
        return special
    if name.startswith("array.new"):
        return _new_array(low, name, node)
    if name in ("map.new", "matrix.new"):
        return _new_container(low, name, node)
    if name in words.OUTPUTS:
        return _output(low, name, node)
    if name.startswith("strategy."):
        raise PineError("scripts draw, and place no orders", node.line, node.column, "orders")
    entry = words.functions().get(name)
    if entry is None:
        old = words.RENAMED.get(name)
        if old and old in words.functions():
            return call_builtin(low, old, node, owner)
        if name in low.__class__._casts:
            return low.as_kind(low.need(node.arguments[0].value), name)
        raise PineError(f"{name}() is not known here", node.line, node.column, name)
    return _function(low, entry, node, owner)


def _given(
    low: Lowering,
    parameters: tuple[str, ...],
    node: t.CallNode,
    owner: TypedValue | None = None,
    many: bool = False,
    name: str = "",
) -> dict[str, Any]:
    """The arguments by the names of their parameters."""
    found: dict[str, Any] = {}
    position = 0
    if owner is not None:
        found[parameters[0]] = owner
        position = 1
    if many:
        found[parameters[-1]] = []
    for argument in node.arguments:
        if argument.name is not None and not (many and argument.name == parameters[-1]):
            if argument.name not in parameters:
                if argument.name in ("active", "behind_chart"):
                    continue
                close = {
                    "defval": parameters[0],
                    "series": parameters[0],
                    "x": parameters[0],
                    "src": "source",
                    "len": "length",
                    "source": parameters[0],
                    "y": parameters[-1],
                    "type": "",
                    "id": parameters[0],
                }.get(argument.name)
                if not close or close in found:
                    raise PineError(
                        f"{name} has no argument {argument.name}",
                        argument.line,
                        argument.column,
                        name,
                    )
                found[close] = low.need(argument.value)
                continue
            found[argument.name] = low.need(argument.value)
        elif many and position >= len(parameters) - 1:
            found[parameters[-1]].append(low.need(argument.value))
        elif position >= len(parameters):
            raise PineError(
                f"{name} takes at most {len(parameters)} arguments",
                argument.line,
                argument.column,
                name,
            )
        else:
            found[parameters[position]] = low.need(argument.value)
            position += 1
    return found


def _function(
    low: Lowering, entry: words.PineFunction, node: t.CallNode, owner: TypedValue | None
) -> TypedValue:
    given = _given(low, entry.parameters, node, owner, entry.many, entry.name)
    _defaults(low, entry, given, node)
    place = node.place
    if entry.name.split(".")[0] in words.HANDLES and entry.bar == "METHOD":
        return _method(low, entry, given, node)
    first = given.get(entry.parameters[0]) if entry.parameters else None
    if (
        entry.name in ("int", "float", "bool", "string", "color", "color.new")
        and isinstance(first, TypedValue)
        and (first.op == "na")
    ):
        return TypedValue("na", entry.kind, simple=True, const=True, **place)
    args = []
    for parameter in entry.parameters:
        value = given.get(parameter)
        if isinstance(value, TypedValue):
            if (
                parameter in _LENGTHS
                and value.kind == "float"
                and entry.name.startswith(("ta.", "math.sum"))
            ):
                value = TypedValue("whole", "int", [value], simple=value.simple, line=value.line)
            if (
                parameter in _LENGTHS
                and not value.simple
                and entry.name not in _SERIES_LENGTHS
                and (entry.history and entry.name not in ("ta.valuewhen", "ta.alma"))
            ):
                raise PineError(
                    f"{entry.name} wants a length that is known before the bars",
                    node.line,
                    node.column,
                    entry.name,
                )
            if parameter == "condition":
                value = low.truth(value)
            elif (
                value.kind == "bool"
                and (entry.name.startswith(("ta.", "math.")))
                and not entry.history
            ):
                value = low.as_number(value)
        args.append(value)
    flat = [a for arg in args for a in (arg if isinstance(arg, list) else [arg]) if a is not None]
    kind = _kind(entry, args, flat)
    if entry.name in (
        "array.push",
        "array.unshift",
        "array.insert",
        "array.set",
        "array.fill",
        "map.put",
        "matrix.set",
        "array.shift",
        "array.pop",
        "array.remove",
        "array.clear",
        "array.sort",
        "array.reverse",
        "array.concat",
        "map.remove",
        "map.clear",
    ):
        _changes(low, given, entry, flat)
    simple = (
        all(a.simple for a in flat)
        and not entry.history
        and not entry.name.startswith(
            ("label.", "line.", "box.", "table.", "polyline.", "linefill.", "timeframe.change")
        )
    )
    if entry.name in ("array.pop", "array.shift", "array.remove"):
        simple = False
    return TypedValue(
        "call",
        kind,
        flat,
        _Bound(entry, dict(zip(entry.parameters, args, strict=True))),
        simple,
        simple and all(a.const for a in flat),
        **place,
    )


class _Bound:
    """A function with its arguments by name."""

    def __init__(self, entry: words.PineFunction, arguments: dict[str, Any]) -> None:
        self.entry, self.arguments, self.name = entry, arguments, entry.name


def _changes(
    low: Lowering, given: dict[str, Any], entry: words.PineFunction, flat: list[TypedValue]
) -> None:
    owner = given.get(entry.parameters[0])
    if owner is None:
        return
    base = owner
    while base.op in ("field", "hist") and base.args:
        base = base.args[0]
    if base.op == "var":
        var = base.data
        if not low.plain or var.mode or not all(a.simple for a in flat[1:]):
            low.make_dynamic(var)
        value = flat[-1] if len(flat) > 1 else None
        if value is not None and var.kind.startswith("array<") and element(var.kind) == "na":
            var.kind = f"array<{value.kind}>"


def _kind(entry: words.PineFunction, args: list[Any], flat: list[TypedValue]) -> str:
    kind = entry.kind
    first = flat[0].kind if flat else "float"
    if kind == "same":
        return first
    if kind == "num":
        found = "int"
        for value in flat:
            found = unify(found, value.kind)
        return found
    if kind == "round":
        return "int" if len(flat) == 1 else "float"
    if kind == "number":
        return element(first) if element(first) in NUMBERS else "float"
    if kind == "item":
        return element(first)
    if kind == "array<first>":
        found = "na"
        for value in flat:
            found = unify(found, value.kind)
        return f"array<{found}>"
    if kind == "array<item>":
        return f"array<{element(first)}>"
    if kind in ("value", "array<value>", "array<key>"):
        parts = first[4:-1].split(",", 1)
        found = parts[0] if kind == "array<key>" else parts[-1]
        return f"array<{found}>" if kind.startswith("array") else found
    return kind


def _defaults(
    low: Lowering, entry: words.PineFunction, given: dict[str, Any], node: t.CallNode
) -> None:
    """Fills in what Pine assumes where an argument is left out."""
    name = entry.name

    def price(which: str) -> TypedValue:
        return TypedValue("price", "float", data=which, line=node.line, column=node.column)

    def number(text: str) -> TypedValue:
        return TypedValue("number", "int", data=text, simple=True, const=True)

    if (
        name in ("ta.highest", "ta.highestbars", "ta.lowest", "ta.lowestbars")
        and "length" not in given
    ):
        given["length"] = given.pop("source")
        given["source"] = price("high" if "highest" in name else "low")
    elif name in ("ta.pivothigh", "ta.pivotlow") and "rightbars" not in given:
        given["rightbars"], given["leftbars"] = given.get("leftbars"), given.get("source")
        given["source"] = price("high" if name == "ta.pivothigh" else "low")
    elif name == "ta.vwap":
        given.setdefault("source", price("hlc3"))
    elif name == "ta.alma":
        given.setdefault(
            "offset", TypedValue("number", "float", data="0.85", simple=True, const=True)
        )
        given.setdefault("sigma", number("6"))
    elif name in ("ta.linreg",):
        given.setdefault("offset", number("0"))
    elif name in ("ta.kc", "ta.kcw"):
        pass
    elif name in ("ta.mom", "ta.roc", "ta.rising", "ta.falling"):
        given.setdefault("length", number("1"))
    elif name == "ta.cum" and given.get("source") is not None:
        given["source"] = low.as_number(given["source"])
    elif name in words.functions() and name.split(".")[-1] in (
        "year",
        "month",
        "dayofmonth",
        "dayofweek",
        "weekofyear",
        "hour",
        "minute",
        "second",
    ):
        given.setdefault("time", TypedValue("price", "int", data="time"))
        if "timezone" not in given:
            low.report.note(node, "assumed", "zone", "the zone of the exchange is the market's")
    elif name == "ta.valuewhen":
        given.setdefault("occurrence", number("0"))
    wanted = {
        "ta.sma": 2,
        "ta.ema": 2,
        "ta.rma": 2,
        "ta.rsi": 2,
        "ta.atr": 1,
        "ta.crossover": 2,
        "ta.crossunder": 2,
        "ta.cross": 2,
        "ta.wma": 2,
        "ta.stdev": 2,
    }.get(name, 0)
    missing = [p for p in entry.parameters[:wanted] if p not in given]
    if missing:
        raise PineError(f"{name} wants {missing[0]}", node.line, node.column, name)


def _method(
    low: Lowering, entry: words.PineFunction, given: dict[str, Any], node: t.CallNode
) -> TypedValue:
    handle = given.get(entry.parameters[0])
    if handle is None:
        raise PineError(f"{entry.name} wants a drawn object", node.line, node.column, entry.name)
    args = [given[p] for p in entry.parameters[1:] if p in given]
    return TypedValue(
        "method",
        entry.kind,
        [handle, *args],
        entry.name.split(".")[1],
        line=node.line,
        column=node.column,
    )


# Declarations and inputs


def _literal(value: TypedValue | None) -> Any:
    if value is None:
        return None
    if value.op == "text":
        return value.data
    if value.op == "flag":
        return value.data
    if value.op == "number":
        return float(value.data) if value.kind == "float" else int(float(value.data))
    if value.op == "unary" and value.data == "-":
        inner = _literal(value.args[0])
        return -inner if isinstance(inner, int | float) else None
    if value.op == "price":
        return value.data
    if value.op == "binary" and value.const:
        left, right = (_literal(a) for a in value.args)
        if isinstance(left, int | float) and isinstance(right, int | float):
            try:
                return {
                    "+": left + right,
                    "-": left - right,
                    "*": left * right,
                    "/": left / right if right else None,
                }.get(value.data)
            except OverflowError:
                return None
        if isinstance(left, str) and isinstance(right, str) and value.data == "+":
            return left + right
    if value.op == "var" and value.data.simple:
        return getattr(value.data, "literal", None)
    if value.op == "call" and value.data.name in ("color.new", "color.rgb"):
        return color_literal(value)
    return None


def color_literal(value: TypedValue) -> str | None:
    """The text of a colour that is made of constants."""
    from chartpact import palette

    arguments = value.data.arguments
    if value.data.name == "color.new":
        base, transp = _literal(arguments["color"]), _literal(arguments.get("transp"))
        if not isinstance(base, str) or not isinstance(transp, int | float):
            return None
        solid = palette.color(base)[:7]
    else:
        parts = [_literal(arguments.get(name)) for name in ("red", "green", "blue")]
        transp = _literal(arguments["transp"]) if arguments.get("transp") is not None else 0
        if not all(isinstance(p, int | float) for p in parts) or not isinstance(
            transp, int | float
        ):
            return None
        solid = "#" + "".join(f"{max(0, min(255, round(p))):02x}" for p in parts)
    alpha = palette.alpha_byte(max(0, min(100, transp)))
    return solid if alpha == 255 else f"{solid}{alpha:02x}"


def _declaration(low: Lowering, name: str, node: t.CallNode) -> None:
    if name == "strategy":
        low.report.note(node, "left_out", "strategy", "a script draws; orders are left out")
    given = _given_loose(low, words.OUTPUTS["indicator"].split(), node)
    meta = low.meta
    title = _literal(given.get("title"))
    meta["title"] = str(title)[:200] if title else "Imported from Pine"
    low.report.title = meta["title"]
    if short := _literal(given.get("shorttitle")):
        meta["short_title"] = str(short)
    meta["overlay"] = bool(_literal(given.get("overlay")))
    for key in ("max_labels_count", "max_lines_count", "max_boxes_count", "max_polylines_count"):
        count = _literal(given.get(key))
        if isinstance(count, int | float) and count >= 1:
            meta[key] = min(int(count), 100 if "poly" in key else 500)
    timeframe = given.get("timeframe")
    if timeframe is not None and _literal(timeframe) not in ("", None):
        raise PineError(
            "an indicator on another timeframe than the chart's",
            node.line,
            node.column,
            "timeframe",
        )


def _given_loose(low: Lowering, parameters: list[str], node: t.CallNode) -> dict[str, TypedValue]:
    found: dict[str, TypedValue] = {}
    for index, argument in enumerate(node.arguments):
        name = argument.name or (parameters[index] if index < len(parameters) else "")
        if name in parameters:
            found[name] = low.need(argument.value)
    return found


def _input(low: Lowering, name: str, node: t.CallNode) -> TypedValue:
    wanted, low.wanted = low.wanted, ""
    raw = {argument.name: argument.value for argument in node.arguments if argument.name}
    written = raw.get("type")
    if name == "input" and isinstance(written, t.Name):
        name = written.name if written.name.startswith("input.") else f"input.{written.name}"
        name = {"input.resolution": "input.timeframe", "input.integer": "input.int"}.get(name, name)
    order = words.OUTPUTS.get(name, words.OUTPUTS["input"]).split()
    if (low.version < 5 and name not in ("input",)) or low.version < 5:
        order = "defval title type minval maxval confirm step options".split()
    given: dict[str, TypedValue] = {}
    options: list[TypedValue] = []
    for index, argument in enumerate(node.arguments):
        key = argument.name or (order[index] if index < len(order) else "")
        if key == "options" and isinstance(argument.value, t.Group):
            options = [low.need(item) for item in argument.value.items]
        elif key == "type":
            continue
        elif key:
            given[key] = low.need(argument.value)
    default = given.get("defval")
    if default is None and name == "input":
        raise PineError("an input wants a default", node.line, node.column, "input")
    literal = _literal(default)
    if name == "input":
        name = _guess(default, given, literal)
    if name not in _INPUT_KINDS:
        raise PineError(f"{name} is not known", node.line, node.column, "input")
    type_, kind = _INPUT_KINDS[name]
    if type_ == "symbol":
        raise PineError("another symbol's bars", node.line, node.column, "symbol")
    if default is not None and literal is None and default.kind != "na" and type_ != "source":
        if default.simple:
            low.report.note(
                node, "assumed", "input", "the default is calculated: it stands as a constant"
            )
            return default
        raise PineError(
            "this default of an input is not a constant", node.line, node.column, "input"
        )
    param: dict[str, Any] = {
        "name": low.script_name(wanted or _slug(_literal(given.get("title")) or "input")),
        "type": type_,
    }
    values = [_literal(option) for option in options]
    if type_ == "source":
        if default is not None and (default.op != "price" or default.data not in words.PRICES):
            if default.simple:
                raise PineError("this source is no price", node.line, node.column, "input.source")
            low.report.note(
                node, "left_out", "input.source", "the source is calculated, and cannot be chosen"
            )
            return default
        literal = default.data if default is not None else "close"
    if type_ == "timeframe":
        literal = timeframe_text(str(literal or ""))
        values = [timeframe_text(str(v)) for v in values]
        if literal == "" or "" in values:
            type_ = "str"
            param["type"] = "str"
    if type_ == "str" and literal is None:
        literal = ""
    if type_ == "bool":
        literal = bool(literal)
    if type_ == "int" and isinstance(literal, float):
        literal = int(literal)
    if type_ == "float" and isinstance(literal, int | float):
        literal = float(literal)
    if values and type_ in ("str", "timeframe", "session") and literal in values:
        param.update(type="choice", default=literal, options=list(dict.fromkeys(values)))
    else:
        if literal is not None or type_ in ("str",):
            param["default"] = literal
        if values and type_ in ("int", "float") and literal in values:
            param["options"] = values
        for key, ours in (("minval", "min"), ("maxval", "max"), ("step", "step")):
            number = _literal(given.get(key))
            if (
                isinstance(number, int | float)
                and not isinstance(number, bool)
                and type_ in ("int", "float")
            ):
                param[ours] = int(number) if type_ == "int" else float(number)
        if param.get("step", 1) <= 0:
            del param["step"]
        if (
            isinstance(literal, int | float)
            and not isinstance(literal, bool)
            and (literal < param.get("min", literal) or literal > param.get("max", literal))
        ):
            param.pop("min", None)
            param.pop("max", None)
    for key, ours in (
        ("title", "desc"),
        ("tooltip", "tooltip"),
        ("group", "group"),
        ("inline", "inline"),
    ):
        text = _literal(given.get(key))
        if isinstance(text, str) and text.strip():
            param[ours] = " ".join(text.split())[:200] if ours != "tooltip" else text[:1000]
    low.params.append(param)
    if len(low.params) > 200:
        raise PineError("more than 200 inputs", node.line, node.column, "input")
    return TypedValue(
        "input",
        kind,
        data=param["name"],
        simple=type_ != "source",
        line=node.line,
        column=node.column,
    )


def _guess(default: TypedValue | None, given: dict[str, TypedValue], literal: Any) -> str:
    assert default is not None
    if default.op == "price" or not default.simple:
        return "input.source"
    if default.kind == "bool":
        return "input.bool"
    if default.kind == "color":
        return "input.color"
    if default.kind == "string":
        return "input.string"
    others = [given[key].kind for key in ("step", "minval", "maxval") if key in given]
    return "input.float" if default.kind == "float" or "float" in others else "input.int"


def _slug(title: str) -> str:
    return re.sub(r"\W+", "_", title.lower()).strip("_")[:40] or "input"


def timeframe_text(text: str) -> str:
    """A timeframe of Pine's, as ours writes it."""
    text = text.strip()
    if re.fullmatch(r"\d+", text):
        minutes = int(text)
        return f"{minutes // 60}h" if minutes >= 60 and minutes % 60 == 0 else f"{minutes}m"
    match = re.fullmatch(r"(\d*)([DWMS])", text)
    if match:
        unit = match[2].lower() if match[2] == "S" else match[2]
        return f"{match[1] or 1}{unit}"
    return text


# Plots


def _output(low: Lowering, name: str, node: t.CallNode) -> TypedValue | None:
    if low.depth:
        raise PineError(f"{name} belongs at the top of a script", node.line, node.column, name)
    parameters = words.OUTPUTS[name].split()
    if low.version < 5:
        parameters = _OLD_ORDERS.get(name, words.OUTPUTS[name]).split()
    elif name == "fill" and len([a for a in node.arguments if a.name is None]) > 4:
        parameters = _GRADIENT.split()
    if name == "fill" and any(a.name == "top_value" for a in node.arguments):
        parameters = _GRADIENT.split()
    given: dict[str, TypedValue] = {}
    for index, argument in enumerate(node.arguments):
        key = argument.name or (parameters[index] if index < len(parameters) else "")
        if key in ("editable", "format", "precision", "explicit_plot_zorder", "fillgaps", ""):
            continue
        given[key] = low.need(argument.value)
    first = parameters[0]
    for alias in ("series", "price", "color", "hline1", "plot1", "arrow"):
        if alias in given and first not in given:
            given[first] = given.pop(alias)
    if first not in given:
        raise PineError(f"{name} wants {first}", node.line, node.column, name)
    for key, value in given.items():
        if value.kind == "void":
            raise PineError(f"{key} has no value", node.line, node.column, name)
    transp = given.pop("transp", None)
    if transp is not None:
        for key in ("color", "textcolor"):
            if key in given:
                given[key] = _with_transp(given[key], transp, node, low)
        if "color" not in given and name in ("fill", "bgcolor", "plot", "plotshape"):
            base = TypedValue("text", "color", data="blue", simple=True, const=True, line=node.line)
            given["color"] = _with_transp(base, transp, node, low)
    display = given.pop("display", None)
    hidden = display is not None and display.data in (
        "none",
        "data_window",
        "status_line",
        "price_scale",
    )
    if display is not None and not display.const:
        low.report.note(node, "approximated", "display", "is always drawn")
    for key in ("trackprice", "show_last", "join", "minheight", "maxheight"):
        if key not in given:
            continue
        constant = _literal(given.pop(key))
        if constant not in (False, None, True) and key == "show_last":
            low.report.note(node, "approximated", key, "all values are drawn, not the last alone")
        elif key == "trackprice" and constant:
            low.report.note(node, "left_out", key, "no line at the last value is drawn")
    if name in ("plot", "hline"):
        key = "series" if name == "plot" else "price"
        value = low.as_number(given[key])
        if value.kind not in NUMBERS:
            raise PineError(f"a {value.kind} cannot be plotted", node.line, node.column, name)
        given[key] = value
        handle = TypedValue(
            "plotted", name, [value], {"line": node.line}, line=node.line, column=node.column
        )
        if value.op not in ("var", "price", "input", "number", "na"):
            var = low.variable(low.wanted or "plotted", value.kind, line=node.line)
            low.make_dynamic(var)
            low.emit(Set(var, value, True), node.line)
            given[key] = handle.args[0] = low.read(var, node)
        if not hidden:
            low.emit(Output(name, given), node.line)
        return handle
    if not hidden:
        low.emit(Output(name, given), node.line)
    elif name == "alertcondition":
        return None
    return None


_GRADIENT = (
    "plot1 plot2 top_value bottom_value top_color bottom_color title display fillgaps editable"
)
_OLD_ORDERS = {
    "plot": "series title color linewidth style trackprice transp histbase offset join"
    " editable show_last display",
    "plotshape": "series title style location color transp offset text textcolor join editable"
    " show_last size display",
    "plotchar": "series title char location color transp offset text textcolor join editable"
    " show_last size display",
    "plotarrow": "series title colorup colordown transp offset minheight maxheight join editable"
    " show_last display",
    "fill": "plot1 plot2 color transp title editable show_last fillgaps",
    "bgcolor": "color transp offset editable show_last title",
    "hline": "price title color linestyle linewidth editable",
}


def _with_transp(
    color: TypedValue, transp: TypedValue, node: t.PineNode, low: Lowering
) -> TypedValue:
    if color.kind == "na":
        return color
    if color.op == "call" and color.data.name == "color.new":
        return color
    if color.op == "choice":
        args = [color.args[0], *(_with_transp(a, transp, node, low) for a in color.args[1:])]
        return TypedValue("choice", "color", args, simple=color.simple, line=color.line)
    entry = words.functions()["color.new"]
    simple = color.simple and transp.simple
    return TypedValue(
        "call",
        "color",
        [color, transp],
        _Bound(entry, {"color": color, "transp": transp}),
        simple,
        color.const and transp.const,
        node.line,
        node.column,
    )


# Functions with rules of their own


def _nz(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    given = _given(low, ("source", "replacement"), node, owner, name="nz")
    value: TypedValue = given["source"]
    other: TypedValue | None = given.get("replacement")
    if value.kind == "bool":
        return value if other is None else low.choose(value, value, low.truth(other), node)
    if value.kind not in NUMBERS:
        if other is None:
            return value
        raise PineError(f"nz of a {value.kind}", node.line, node.column, "nz")
    args = [value, *([low.as_number(other)] if other is not None else [])]
    kind = unify(value.kind, other.kind) if other is not None else value.kind
    return TypedValue(
        "nz", kind, args, simple=all(a.simple for a in args), line=node.line, column=node.column
    )


def _na(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    value = low.need(node.arguments[0].value) if node.arguments else low.na(node)
    return TypedValue(
        "isna", "bool", [value], simple=value.simple, line=node.line, column=node.column
    )


def _change(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    given = _given(low, ("source", "length"), node, owner, name="ta.change")
    source = given["source"]
    length = given.get("length") or TypedValue("number", "int", data="1", simple=True, const=True)
    if length.kind == "float":
        length = TypedValue("whole", "int", [length], simple=length.simple)
    if source.kind in ("bool", "string"):
        before = TypedValue(
            "hist", source.kind, [source, length], line=node.line, column=node.column
        )
        if source.kind == "bool":
            return TypedValue(
                "binary",
                "bool",
                [low.as_number(source), low.as_number(before)],
                "!=",
                line=node.line,
            )
        return TypedValue("binary", "bool", [source, before], "!=", line=node.line)
    if source.kind not in NUMBERS:
        raise PineError(f"ta.change of a {source.kind}", node.line, node.column, name)
    before = TypedValue("hist", source.kind, [source, length], line=node.line, column=node.column)
    if source.op in ("var", "price", "input"):
        return TypedValue(
            "binary", source.kind, [source, before], "-", line=node.line, column=node.column
        )
    entry = words.PineFunction(
        "ta.change", ("source", "length"), source.kind, "ta.change({source}, {length})", "", True
    )
    return TypedValue(
        "call",
        source.kind,
        [source, length],
        _Bound(entry, {"source": source, "length": length}),
        line=node.line,
        column=node.column,
    )


def _iff(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    values = [a.value for a in node.arguments]
    if len(values) != 3:
        raise PineError("iff takes three arguments", node.line, node.column, "iff")
    return low.choose(low.condition(values[0]), low.need(values[1]), low.need(values[2]), node)


def _time(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    given = _given(low, ("timeframe", "session", "timezone"), node, name=name)
    timeframe = given.get("timeframe")
    same = timeframe is None or timeframe.op == "setting" or _literal(timeframe) == ""
    low.report.note(node, "assumed", name, "days and sessions are the market's of these bars")
    return TypedValue(
        "time",
        "int",
        [v for v in (timeframe, given.get("session"), given.get("timezone")) if v],
        {"same": same, "name": name, **given},
        line=node.line,
        column=node.column,
    )


def _security(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    parameters = words.OUTPUTS["request.security"].split()
    raw: dict[str, t.Expr] = {}
    for index, argument in enumerate(node.arguments):
        raw[argument.name or parameters[min(index, len(parameters) - 1)]] = argument.value
    if not {"symbol", "timeframe", "expression"} <= set(raw):
        raw.setdefault("timeframe", raw.pop("resolution", t.Text("")))
    symbol = low.need(raw["symbol"])
    if not (symbol.op == "setting" or _literal(symbol) == ""):
        raise PineError("the bars of another symbol", node.line, node.column, "symbol")
    timeframe = low.need(raw["timeframe"])
    if not timeframe.simple:
        raise PineError(
            "the timeframe is not known before the bars", node.line, node.column, "timeframe"
        )
    gaps = low.need(raw["gaps"]) if "gaps" in raw else None
    if gaps is not None and _literal(gaps) in ("gaps_on", True):
        raise PineError("gaps_on: values on some bars alone", node.line, node.column, "gaps")
    ahead = _literal(low.need(raw["lookahead"])) if "lookahead" in raw else "lookahead_off"
    before = len(low.out)
    inner = low.expression(raw["expression"])
    if inner is None:
        raise PineError("this gives no value", node.line, node.column)
    looks = ahead in ("lookahead_on", True) or (low.version < 3 and "lookahead" not in raw)
    previous = False
    if looks:
        items = inner.args if inner.op == "group" else [inner]
        if all(_is_earlier(item) for item in items):
            previous = True
            inner = (
                TypedValue("group", inner.kind, [i.args[0] for i in items])
                if inner.op == "group"
                else inner.args[0]
            )
        else:
            raise PineError(
                "lookahead_on shows the end of a bar at its beginning: it sees the future",
                node.line,
                node.column,
                "lookahead",
            )
    del before
    low.report.note(
        node, "assumed", "request.security", "days and weeks are the market's of these bars"
    )
    same = timeframe.op == "setting" or _literal(timeframe) == ""
    return TypedValue(
        "security",
        inner.kind,
        [timeframe, inner],
        {"previous": previous, "same": same},
        line=node.line,
        column=node.column,
    )


def _is_earlier(value: TypedValue) -> bool:
    return value.op == "hist" and _literal(value.args[1]) == 1


def _dropped(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> None:
    low.report.note(node, "left_out", name, "has no effect on closed bars")


def _alertcondition(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> None:
    low.report.note(node, "left_out", name, "alerts are made outside of scripts")


def _new_array(low: Lowering, name: str, node: t.CallNode) -> TypedValue:
    kind = "float"
    if "_" in name:
        kind = name.split("_", 1)[1]
    elif node.types:
        kind = low.kind_of(node.types[0]) or node.types[0]
    given = _given(low, ("size", "initial_value"), node, name=name)
    size, first = given.get("size"), given.get("initial_value")
    args = [v for v in (size, first) if v is not None]
    simple = all(a.simple for a in args)
    return TypedValue(
        "array",
        f"array<{kind}>",
        args,
        {"size": size, "first": first},
        simple,
        line=node.line,
        column=node.column,
    )


def _new_container(low: Lowering, name: str, node: t.CallNode) -> TypedValue:
    if name == "map.new":
        return TypedValue(
            "dict", f"map<{','.join(node.types)}>", simple=True, line=node.line, column=node.column
        )
    kind = node.types[0] if node.types else "float"
    given = _given(low, ("rows", "columns", "initial_value"), node, name=name)
    return TypedValue(
        "matrix",
        f"matrix<{kind}>",
        [v for v in given.values()],
        given,
        line=node.line,
        column=node.column,
    )


def _tr(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    return TypedValue("price", "float", data="ta.tr", line=node.line, column=node.column)


def _timestamp(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    values = [low.need(a.value) for a in node.arguments]
    names = [a.name for a in node.arguments]
    if len(values) == 1:
        text = _literal(values[0])
        moment = _parse_time(text) if isinstance(text, str) else None
        if moment is None:
            raise PineError("this time is not understood", node.line, node.column, "timestamp")
        return TypedValue(
            "number",
            "int",
            data=str(moment),
            simple=True,
            const=True,
            line=node.line,
            column=node.column,
        )
    zone = None
    if values and values[0].kind == "string":
        zone, values, names = values[0], values[1:], names[1:]
    parts: dict[str, TypedValue | None] = dict.fromkeys(
        ("year", "month", "day", "hour", "minute", "second")
    )
    for index, (key, value) in enumerate(zip(names, values, strict=True)):
        field = key or list(parts)[min(index, 5)]
        if field == "timezone":
            zone = value
        else:
            parts[field] = value
    if zone is None:
        low.report.note(node, "assumed", "zone", "the zone of the exchange is the market's")
    entry = words.PineFunction(
        "timestamp",
        (*parts, "zone"),
        "int",
        "",
        "moment({year}, {month=1}, {day=1}, {hour=0}, {minute=0}, {second=0}, {zone=zone})",
    )
    flat = [v for v in (*parts.values(), zone) if v is not None]
    return TypedValue(
        "call",
        "int",
        flat,
        _Bound(entry, {**parts, "zone": zone}),
        all(v.simple for v in flat),
        line=node.line,
        column=node.column,
    )


def _parse_time(text: str) -> int | None:
    from datetime import UTC, datetime

    text = re.sub(r"\bGMT|\bUTC", "", text.strip()).strip().replace("T", " ")
    text = re.sub(r"([+-]\d{2}):(\d{2})$", r"\1\2", text)
    text = re.sub(r" ([+-])(\d):?(\d{2})?$", lambda m: f" {m[1]}0{m[2]}{m[3] or '00'}", text)
    for form in (
        "%d %b %Y %H:%M %z",
        "%d %b %Y %H:%M",
        "%d %b %Y",
        "%d %B %Y %H:%M %z",
        "%d %B %Y %H:%M",
        "%d %B %Y",
        "%b %d %Y",
        "%b %d %Y %H:%M %z",
        "%Y-%m-%d %H:%M:%S%z",
        "%Y-%m-%d %H:%M:%S %z",
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%d %H:%M%z",
        "%Y-%m-%d %H:%M %z",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%d",
        "%d %b %Y %H:%M:%S %z",
        "%d %b %y",
    ):
        try:
            found = datetime.strptime(text, form)
        except ValueError:
            continue
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        return int(found.timestamp() * 1000)
    return None


def _offset(low: Lowering, name: str, node: t.CallNode, owner: TypedValue | None) -> TypedValue:
    args = [low.need(argument.value) for argument in node.arguments[:2]]
    return TypedValue("hist", "float", args, line=node.line, column=node.column)


_SPECIAL: dict[str, Any] = {
    "timestamp": _timestamp,
    "nz": _nz,
    "na": _na,
    "ta.change": _change,
    "iff": _iff,
    "time": _time,
    "time_close": _time,
    "request.security": _security,
    "alert": _dropped,
    "max_bars_back": _dropped,
    "alertcondition": _alertcondition,
    "offset": _offset,
}
