"""Expressions of a program as those of a script: on all bars, on one, or before them."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any, Protocol

from chartpact.pine import vocabulary as words
from chartpact.pine.calls import _literal, color_literal, timeframe_text
from chartpact.pine.errors import PineError
from chartpact.pine.program import NUMBERS, TypedValue, Var, element

# How tightly a form binds.
CHOICE, OR, AND, NOT, COMPARE, BITOR, BITAND, SUM, PRODUCT, MINUS, ATOM = range(11)
_BINARY = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "//": PRODUCT}
_SERIES_KINDS = frozenset(("int", "float", "bool", "na"))


def can_be_series(value: TypedValue) -> bool:
    """Whether a value has a form on all bars at once."""
    if value.simple:
        return True
    inner = all(can_be_series(arg) for arg in value.args)
    match value.op:
        case "var":
            return value.data.top and (value.kind in _SERIES_KINDS or value.kind == "color")
        case "price":
            return bool(words.VALUES[value.data][1])
        case "hist":
            return inner and value.kind in _SERIES_KINDS
        case "choice":
            return inner and (value.kind in _SERIES_KINDS or value.kind in ("color", "string"))
        case "binary":
            if value.data in ("==", "!=") and not {a.kind for a in value.args} <= _SERIES_KINDS:
                return False
            return inner and value.kind != "string"
        case (
            "unary"
            | "logic"
            | "truth"
            | "as_number"
            | "whole"
            | "nz"
            | "input"
            | "setting"
            | "plotted"
        ):
            return inner
        case "isna":
            return inner and value.args[0].kind in _SERIES_KINDS
        case "call":
            entry = value.data.entry
            if (
                entry.name in ("color.new",)
                and not value.data.arguments.get("transp", value).simple
            ):
                return False
            if entry.name == "color.rgb":
                return False
            return bool(entry.series) and inner and "array" not in value.kind
        case "time":
            return all(arg.simple for arg in value.args)
        case "security":
            return True
    return False


def zone_text(zone: str) -> str:
    """A zone such as "GMT+2" by its name in the database of zones."""
    match = re.fullmatch(r"(?:GMT|UTC)([+-])0?(\d{1,2})(?::?00)?", zone)
    if match:
        return f"Etc/GMT{'-' if match[1] == '+' else '+'}{match[2]}" if int(match[2]) else "UTC"
    return {"GMT": "UTC", "exchange": "UTC"}.get(zone, zone)


def quote(text: str) -> str:
    """A text as a literal of the language."""
    out = ['"']
    for c in text[:4000]:
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif ord(c) < 32 or 0xD800 <= ord(c) <= 0xDFFF:
            out.append(" ")
        else:
            out.append(c)
    return "".join(out) + '"'


class Names(Protocol):
    """What a form asks of the function that it is written into."""

    def use_prices(self, form: str) -> None: ...
    def use_helpers(self, form: str) -> None: ...
    def parameter(self, name: str) -> str: ...
    def read(self, var: Var, mode: str, value: TypedValue) -> str: ...
    def under(self, test: TypedValue, holds: bool = True) -> AbstractContextManager[None]: ...
    def read_earlier(
        self, source: TypedValue, offset: TypedValue, shift: str, value: TypedValue
    ) -> str: ...
    def may_be_na(self, value: TypedValue) -> bool: ...
    def by_bar(self, value: TypedValue, arguments: dict[str, Any]) -> str: ...
    def remembering(
        self, value: TypedValue, form: str, arguments: dict[str, Any]
    ) -> tuple[str, int]: ...
    def security(self, value: TypedValue) -> str: ...


class Forms:
    """Writes values; `mode` is "series", "bar" or "plain"."""

    def __init__(self, writer: Names) -> None:
        self.writer = writer
        self.drawing = False  # whether the argument of a drawn object is written
        self.clear = False  # whether a colour that is na is written as an invisible one

    def text(self, value: TypedValue, mode: str, least: int = CHOICE) -> str:
        form, level = self.form(value, mode)
        return form if level >= least else f"({form})"

    def form(self, value: TypedValue, mode: str) -> tuple[str, int]:
        if value.simple:
            mode = "plain"
        method = getattr(self, f"_{value.op}", None)
        if method is None:
            raise PineError(f"this is not built: {value.op}", value.line, value.column)
        found: tuple[str, int] = method(value, mode)
        return found

    # Values that stand alone

    def _number(self, value: TypedValue, mode: str) -> tuple[str, int]:
        text = (value.data.lstrip("0") or "0") if re.fullmatch(r"0+\d+", value.data) else value.data
        if text.startswith("."):
            text = "0" + text
        text = text.replace("-.", "-0.")
        if text.endswith("."):
            text += "0"
        if "e" in text.lower() and "." not in text:
            text = re.sub(r"[eE]", ".0e", text)
        return text, MINUS if text.startswith("-") else ATOM

    def _text(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return quote(value.data), ATOM

    def _flag(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return str(value.data), ATOM

    def _na(self, value: TypedValue, mode: str) -> tuple[str, int]:
        if value.kind in NUMBERS:
            return "na", ATOM
        if value.kind == "color" and (self.clear or (mode == "plain" and not self.drawing)):
            return '"#00000000"', ATOM
        return ("False" if value.kind == "bool" else "None"), ATOM

    def _var(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return self.writer.read(value.data, mode, value), ATOM

    def _input(self, value: TypedValue, mode: str) -> tuple[str, int]:
        name = self.writer.parameter(value.data)
        return (f"{name}[bar]" if mode == "bar" else name), ATOM

    def _price(self, value: TypedValue, mode: str) -> tuple[str, int]:
        _, series, bar = words.VALUES[value.data]
        form = bar if mode == "bar" else series
        if not form:
            raise PineError(f"{value.data} has no form here", value.line, value.column, value.data)
        self.writer.use_prices(form)
        return form, ATOM

    def _setting(self, value: TypedValue, mode: str) -> tuple[str, int]:
        form = words.SETTINGS[value.data][1]
        self.writer.use_prices(form)
        self.writer.use_helpers(form)
        return form, ATOM

    def _plotted(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return self.form(value.args[0], mode)

    # Operators

    def _unary(self, value: TypedValue, mode: str) -> tuple[str, int]:
        (arg,) = value.args
        if value.data == "-":
            return f"-{self.text(arg, mode, MINUS + 1)}", MINUS
        if mode == "series":
            return f"~{self.text(arg, mode, ATOM)}", MINUS
        return f"not {self.text(arg, mode, NOT)}", NOT

    def _logic(self, value: TypedValue, mode: str) -> tuple[str, int]:
        left, right = value.args
        if mode == "series":
            if left.simple:
                left, right = right, left
            op, level = ("&", BITAND) if value.data == "and" else ("|", BITOR)
            return f"{self.text(left, mode, level)} {op} {self.text(right, mode, level + 1)}", level
        level = AND if value.data == "and" else OR
        return (
            f"{self.text(left, mode, level)} {value.data} {self.text(right, mode, level + 1)}",
            level,
        )

    def _binary(self, value: TypedValue, mode: str) -> tuple[str, int]:
        left, right = value.args
        op = value.data
        if op in _BINARY:
            return self._arithmetic(value, mode, left, right, op)
        if left.op == "na" or right.op == "na":
            return "False", ATOM
        a, b = self.text(left, mode, BITOR), self.text(right, mode, BITOR)
        if (
            op == "!="
            and mode != "series"
            and "float" in (left.kind, right.kind)
            and left.kind != "string"
        ):
            if _is_atom(a) and _is_atom(b):
                return f"{a} < {b} or {a} > {b}", OR
            self.writer.use_helpers("differs(")
            return f"differs({a}, {b})", ATOM
        return f"{a} {op} {b}", COMPARE

    def _arithmetic(
        self, value: TypedValue, mode: str, left: TypedValue, right: TypedValue, op: str
    ) -> tuple[str, int]:
        level = _BINARY[op]
        if value.kind == "string":
            return f"{self.text(left, mode, level)} + {self.text(right, mode, level + 1)}", level
        if op == "/" and value.kind == "int":
            op = "//"
        a, b = self.text(left, mode, level), self.text(right, mode, level + 1)
        constant = _literal(right)
        if op == "/" and mode != "series" and not (isinstance(constant, int | float) and constant):
            self.writer.use_helpers("div(")
            return f"div({self.text(left, mode)}, {self.text(right, mode)})", ATOM
        return f"{a} {op} {b}", level

    def _choice(self, value: TypedValue, mode: str) -> tuple[str, int]:
        test, yes, no = value.args
        if mode != "series" or test.simple:
            a, b = self.text(yes, mode, OR), self.text(no, mode)
            if mode == "series" and value.kind in _SERIES_KINDS:
                a, b = self.as_series(yes, OR), self.as_series(no, CHOICE)
            elif mode == "series" and value.kind == "color" and yes.simple != no.simple:
                a, b = (
                    f"[{form}] * len(ohlcv)" if arm.simple else form
                    for form, arm in ((a, yes), (b, no))
                )
            return (
                f"{a} if {self.text(test, 'plain' if test.simple else mode, OR)} else {b}",
                CHOICE,
            )
        if value.kind == "bool":
            return self._choose_condition(test, yes, no)
        with self.writer.under(test):
            yes_form = self.text(yes, mode)
        with self.writer.under(test, False):
            no_form = self.text(no, mode)
        return f"ta.where({self.text(test, mode)}, {yes_form}, {no_form})", ATOM

    def _choose_condition(
        self, test: TypedValue, yes: TypedValue, no: TypedValue
    ) -> tuple[str, int]:
        condition = self.form(test, "series")
        never_yes, never_no = (_literal(v) is False or v.op == "na" for v in (yes, no))
        with self.writer.under(test):
            a = self.form(yes, "series")
        with self.writer.under(test, False):
            b = self.form(no, "series")
        unless = f"~{_bound(condition, ATOM)}", MINUS
        if _literal(yes) is True:
            return (
                condition
                if never_no
                else (f"{_bound(condition, BITOR)} | {_bound(b, BITOR + 1)}", BITOR)
            )
        if never_no:
            return f"{_bound(condition, BITAND)} & {_bound(a, BITAND + 1)}", BITAND
        if never_yes:
            return f"{unless[0]} & {_bound(b, BITAND + 1)}", BITAND
        if _literal(no) is True:
            return f"{unless[0]} | {_bound(a, BITOR + 1)}", BITOR
        return (
            f"({_bound(condition, BITAND)} & {_bound(a, BITAND + 1)}) | "
            f"({unless[0]} & {_bound(b, BITAND + 1)})"
        ), BITOR

    def as_series(self, value: TypedValue, least: int = CHOICE) -> str:
        """A value as a series, also where it is known before the bars."""
        if not value.simple:
            return self.text(value, "series", least)
        if value.kind == "bool":
            self.writer.use_helpers("level(")
            return f"(level(ohlcv, 1 if {self.text(value, 'plain', OR)} else 0) == 1)"
        if value.kind in NUMBERS:
            self.writer.use_helpers("level(")
            return f"level(ohlcv, {self.text(value, 'plain')})"
        return self.text(value, "plain", least)

    def _hist(self, value: TypedValue, mode: str) -> tuple[str, int]:
        source, offset = value.args
        shift = self.text(offset, mode, SUM + 1)
        if offset.kind == "float":
            whole = mode == "series" and not offset.simple
            shift = f"{'ta.floor' if whole else 'int'}({self.text(offset, mode)})"
        if mode == "series":
            shift = self.text(offset, mode) if offset.kind != "float" else shift
            shift = shift if offset.simple else f"ta.nz({shift})"
            form = f"ta.shift({self.as_series(source)}, {shift})"
            return (f"{form} == 1", COMPARE) if value.kind == "bool" else (form, ATOM)
        return self.writer.read_earlier(source, offset, shift, value), ATOM

    def _truth(self, value: TypedValue, mode: str) -> tuple[str, int]:
        (arg,) = value.args
        if mode == "series":
            return f"{self.text(arg, mode, BITOR)} != 0", COMPARE
        a = self.text(arg, mode, BITOR)
        if _is_atom(a):
            return f"{a} != 0 and {a} == {a}", AND
        self.writer.use_helpers("truth(")
        return f"truth({a})", ATOM

    def _as_number(self, value: TypedValue, mode: str) -> tuple[str, int]:
        (arg,) = value.args
        if mode == "series":
            return f"ta.where({self.text(arg, mode)}, 1, 0)", ATOM
        return f"1 if {self.text(arg, mode, OR)} else 0", CHOICE

    def _whole(self, value: TypedValue, mode: str) -> tuple[str, int]:
        (arg,) = value.args
        if mode == "series":
            return f"ta.floor({self.text(arg, mode)})", ATOM
        return f"int({self.text(arg, mode)})", ATOM

    def _nz(self, value: TypedValue, mode: str) -> tuple[str, int]:
        forms = [self.text(arg, mode) for arg in value.args]
        return f"ta.nz({', '.join(forms)})", ATOM

    def _isna(self, value: TypedValue, mode: str) -> tuple[str, int]:
        (arg,) = value.args
        if arg.kind == "bool":
            return ("ohlcv.bar_index < 0", COMPARE) if mode == "series" else ("False", ATOM)
        if arg.kind in NUMBERS:
            return f"ta.isna({self.text(arg, mode)})", ATOM
        return f"{self.text(arg, mode, BITOR)} == None", COMPARE

    # Calls

    def _call(self, value: TypedValue, mode: str) -> tuple[str, int]:
        entry, arguments = value.data.entry, value.data.arguments
        if entry.name in ("color.new", "color.rgb"):
            constant = color_literal(value)
            if constant is not None:
                return quote(constant), ATOM
        if entry.name == "math.avg":
            many = arguments["numbers"]
            total = " + ".join(self.text(v, mode, SUM + 1) for v in many)
            return f"({total}) / {len(many)}", PRODUCT
        if entry.name == "str.tostring":
            return self._tostring(arguments, mode)
        if entry.name == "str.format":
            return self._message(arguments, mode)
        if entry.bar == "chart.new" or "OPTIONS" in entry.bar:
            return self._drawn(entry, arguments, mode), ATOM
        if (
            value.kind == "int"
            and mode != "series"
            and entry.name in ("math.round", "math.floor", "math.ceil")
        ):
            return f"{entry.name}({self.text(arguments['number'], mode)})", ATOM
        form = entry.series if mode == "series" else entry.bar
        if entry.history and mode != "series":
            return self.writer.by_bar(value, arguments), ATOM
        if mode == "plain" and not form:
            form = entry.series
        if not form:
            raise PineError(f"{entry.name} has no form here", value.line, value.column, entry.name)
        if entry.history and mode == "series":
            return self.writer.remembering(value, form, arguments)
        return self.fill(form, arguments, mode, value), _level(form)

    def fill(
        self, form: str, arguments: dict[str, Any], mode: str, value: TypedValue | None = None
    ) -> str:
        """A form with the arguments in their places."""
        self.writer.use_prices(form)
        self.writer.use_helpers(form)

        def put(match: re.Match[str]) -> str:
            name, _, default = match[1].partition("=")
            if name.endswith(":+"):
                return " + ".join(self.text(v, mode, SUM + 1) for v in arguments[name[:-2]])
            if name.endswith("#"):
                return str(len(arguments[name[:-1]]))
            if name.endswith(",2"):
                many = [self.text(v, mode) for v in arguments[name[:-2]]]
                function = form.split("(", maxsplit=1)[0]
                found = many[0]
                for other in many[1:-1]:
                    found = f"{function}({found}, {other})"
                return f"{found}, {many[-1]}" if len(many) > 1 else found
            optional = name.endswith("?")
            argument = arguments.get(name.rstrip("?"))
            if isinstance(argument, list):
                return ", ".join(self.text(v, mode) for v in argument)
            if argument is None:
                if "=" in match[1]:
                    self.writer.use_prices(default)
                    return default
                if optional:
                    return "\0"
                raise PineError(
                    f"{name} is missing", value.line if value else 1, value.column if value else 1
                )
            alone = form == match[0]
            least = CHOICE if alone or _stands_alone(form, match) else ATOM
            text = self.text(argument, mode, least)
            if name == "timeframe" and isinstance(_literal(argument), str):
                return quote(timeframe_text(_literal(argument)) or "1D")
            if name in ("timezone", "tz", "zone") and not isinstance(_literal(argument), str):
                self.writer.use_helpers("zone_of(")
                return f"zone_of({text})"
            if name in ("timezone", "tz", "zone"):
                return quote(zone_text(_literal(argument)))
            if argument.kind == "float" and name in (
                "index",
                "column",
                "row",
                "index_from",
                "index_to",
                "begin_pos",
                "end_pos",
                "nth",
                "size",
                "precision",
            ):
                return f"int({self.text(argument, mode)})"
            return text

        found = re.sub(r"\{([^{}]+)\}", put, form)
        return re.sub(r",? ?\0", "", found).replace(
            "NONE", "na" if value is not None and value.kind in NUMBERS else "None"
        )

    def _tostring(self, arguments: dict[str, Any], mode: str) -> tuple[str, int]:
        value, pattern = arguments["value"], arguments.get("format")
        text = self.text(value, mode)
        if value.kind == "string":
            return text, CHOICE
        if value.kind == "bool":
            return f'"true" if {self.text(value, mode, OR)} else "false"', CHOICE
        if value.kind.startswith("array<"):
            return f'"[" + ", ".join([str(item) for item in {self.text(value, mode)}]) + "]"', SUM
        constant = _literal(pattern)
        if pattern is None or constant in ("price", "inherit"):
            self.writer.use_helpers("text_of(")
            return f"text_of({text})", ATOM
        if constant == "mintick":
            self.writer.use_helpers("by_tick(")
            return f"by_tick({text}, ohlcv.tick_size)", ATOM
        if constant == "percent":
            constant, pattern = "#.##%", None
        if constant == "volume":
            self.writer.use_helpers("volume_text(")
            return f"volume_text({text})", ATOM
        self.writer.use_helpers("formatted(")
        form = (
            quote(constant) if isinstance(constant, str) else self.text(arguments["format"], mode)
        )
        return f"formatted({text}, {form})", ATOM

    def _message(self, arguments: dict[str, Any], mode: str) -> tuple[str, int]:
        self.writer.use_helpers("message(")
        values = ", ".join(self.text(v, mode) for v in arguments["values"])
        return f"message({self.text(arguments['pattern'], mode)}, [{values}])", ATOM

    def _drawn(self, entry: words.PineFunction, arguments: dict[str, Any], mode: str) -> str:
        names = list(entry.parameters)
        given = {name: v for name, v in arguments.items() if v is not None}
        given = _with_points(entry.name, names, given)
        parts: list[str] = []
        for name, value in given.items():
            if name == "table_id":
                continue
            if isinstance(value, tuple):
                form = f"{self.text(value[0], mode, ATOM)}[{value[1]}]"
            else:
                form = self._option(name, value, mode, entry.name)
            parts.append(
                f"{name}={form}"
                if (parts and len(parts) >= _POSITIONAL.get(entry.name, 0))
                or name not in names[: _POSITIONAL.get(entry.name, 0)]
                else form
            )
        function = entry.bar.split("(")[0]
        if entry.name == "table.cell":
            return f"{self.text(arguments['table_id'], mode, ATOM)}.cell({', '.join(parts)})"
        return f"{function}({', '.join(parts)})"

    def _option(self, name: str, value: TypedValue, mode: str, function: str) -> str:
        if value.op == "na":
            return (
                "na"
                if name in ("x", "y", "x1", "y1", "x2", "y2", "left", "right", "top", "bottom")
                else "None"
            )
        text = self.text(value, mode)
        if name in ("x", "x1", "x2", "left", "right") and value.kind == "float":
            self.writer.use_helpers("whole(")
            return f"whole({text})"
        if name in (
            "columns",
            "rows",
            "column",
            "row",
            "width",
            "border_width",
            "line_width",
            "frame_width",
        ) and (value.kind == "float"):
            return text if function == "table.cell" and name == "width" else f"int({text})"
        return text

    def _method(self, value: TypedValue, mode: str) -> tuple[str, int]:
        handle, *args = value.args
        owner = self.text(handle, mode, ATOM)
        parts = []
        for index, arg in enumerate(args):
            if arg.kind == "chart.point":
                base = self.text(arg, mode, ATOM)
                parts += [f"{base}[0]", f"{base}[1]"]
                continue
            text = self.text(arg, mode)
            if arg.kind == "float" and (
                value.data in ("set_x", "set_x1", "set_x2", "set_left", "set_right")
                or (
                    index == 0
                    and value.data
                    in ("set_xy", "set_xy1", "set_xy2", "set_lefttop", "set_rightbottom")
                )
            ):
                self.writer.use_helpers("whole(")
                text = f"whole({text})"
            parts.append(text)
        name = {
            "set_point": "set_xy",
            "set_first_point": "set_xy1",
            "set_second_point": "set_xy2",
            "set_top_left_point": "set_lefttop",
            "set_bottom_right_point": "set_rightbottom",
        }.get(value.data, value.data)
        call = f"{owner}.{name}({', '.join(parts)})"
        if value.kind == "void" or not self.writer.may_be_na(handle):
            return call, ATOM
        missing = "na" if value.kind in NUMBERS else '""' if value.kind == "string" else "None"
        return f"{call} if {owner} != None else {missing}", CHOICE

    # Containers and objects

    def _array(self, value: TypedValue, mode: str) -> tuple[str, int]:
        size, first = value.data["size"], value.data["first"]
        kind = element(value.kind)
        if size is None or _literal(size) == 0:
            return "[]", ATOM
        empty = "na" if kind in NUMBERS else "False" if kind == "bool" else "None"
        item = self.text(first, mode) if first is not None and first.op != "na" else empty
        count = (
            self.text(size, mode, MINUS)
            if size.kind == "int"
            else f"int(ta.nz({self.text(size, mode)}))"
        )
        return f"[{item}] * {count}", PRODUCT

    def _dict(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return "{}", ATOM

    def _matrix(self, value: TypedValue, mode: str) -> tuple[str, int]:
        rows, columns, first = (value.data.get(k) for k in ("rows", "columns", "initial_value"))
        if rows is None:
            return "[]", ATOM
        item = self.text(first, mode) if first is not None else "na"
        return (
            f"[[{item}] * {self.text(columns, mode, MINUS)}"
            f" for _ in range({self.text(rows, mode)})]",
            ATOM,
        )

    def _group(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return f"({', '.join(self.text(arg, mode) for arg in value.args)})", ATOM

    def _make(self, value: TypedValue, mode: str) -> tuple[str, int]:
        items = (
            f"{quote(name)}: {self.text(arg, mode)}"
            for name, arg in zip(value.data, value.args, strict=True)
        )
        return "{" + ", ".join(items) + "}", ATOM

    def _copy(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return f"dict({self.text(value.args[0], mode)})", ATOM

    def _field(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return f'{self.text(value.args[0], mode, ATOM)}["{value.data}"]', ATOM

    def _item(self, value: TypedValue, mode: str) -> tuple[str, int]:
        return f"{self.text(value.args[0], mode, ATOM)}[{value.data}]", ATOM

    def _time(self, value: TypedValue, mode: str) -> tuple[str, int]:
        if mode != "series":
            raise PineError(
                f"{value.data['name']}() has no form here", value.line, value.column, "time"
            )
        session, zone = value.data.get("session"), value.data.get("timezone")
        column = "ohlcv.close_time" if value.data["name"] == "time_close" else "ohlcv.time"
        form = column
        if not value.data["same"]:
            timeframe = self.timeframe(value.data["timeframe"])
            if value.data["name"] == "time_close":
                raise PineError(
                    "time_close of a higher timeframe", value.line, value.column, "time_close"
                )
            form = f"ta.valuewhen(ta.timeframe_change(ohlcv, {timeframe}), ohlcv.time, 0)"
        if session is None or _literal(session) == "":
            return form, ATOM
        where = "zone"
        if zone is not None:
            where = self.fill("{timezone}", {"timezone": zone}, "plain")
        self.writer.use_prices(where)
        return (
            f"ta.where(ta.session(ohlcv, {self.text(session, 'plain')}, {where}), {form}, na)",
            ATOM,
        )

    def timeframe(self, value: TypedValue) -> str:
        constant = _literal(value)
        return (
            quote(timeframe_text(constant))
            if isinstance(constant, str)
            else self.text(value, "plain")
        )

    def _security(self, value: TypedValue, mode: str) -> tuple[str, int]:
        if mode != "series":
            raise PineError(
                "request.security has no form here", value.line, value.column, "request.security"
            )
        return self.writer.security(value), ATOM

    def _all(self, value: TypedValue, mode: str) -> tuple[str, int]:
        raise PineError(
            f"{value.data}.all is not kept", value.line, value.column, f"{value.data}.all"
        )


_POSITIONAL = {
    "label.new": 3,
    "line.new": 4,
    "box.new": 4,
    "table.new": 3,
    "polyline.new": 1,
    "table.cell": 4,
}


def _with_points(name: str, names: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Arguments where points stand for pairs of coordinates."""
    first = given.get(names[0])
    if not isinstance(first, TypedValue) or first.kind != "chart.point":
        return given
    values = list(given.items())
    points = 1 if name == "label.new" else 2
    found: dict[str, Any] = {}
    for index in range(points):
        point = given.get(names[index])
        if point is None:
            return given
        found[names[2 * index]], found[names[2 * index + 1]] = (point, 0), (point, 1)
    for key, value in values:
        at = names.index(key)
        if at >= points:
            shifted = names[at + points] if at + points < len(names) and key not in _NAMED else key
            found[shifted] = value
    return found


_NAMED: frozenset[str] = frozenset()


def _bound(form: tuple[str, int], least: int) -> str:
    return form[0] if form[1] >= least else f"({form[0]})"


def _is_atom(text: str) -> bool:
    return re.fullmatch(r"-?[\w.]+(\[[\w. +-]+\])?", text) is not None


def _stands_alone(form: str, match: re.Match[str]) -> bool:
    before = form[: match.start()].rstrip()[-1:]
    after = form[match.end() :].lstrip()[:1]
    return before in ("(", ",", "[", "=") and after in (")", ",", "]", "")


def _level(form: str) -> int:
    depth, level = 0, ATOM
    for index, c in enumerate(form):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c == " " and index + 2 < len(form):
            if form[index + 1] in "*/":
                level = min(level, PRODUCT)
            elif form[index + 1] in "+-":
                level = min(level, SUM)
            elif form[index + 1] in "!=<>":
                level = min(level, COMPARE)
    return level


def var_of(value: TypedValue) -> Var | None:
    return value.data if value.op == "var" else None
