"""From an exception in compiled code to a sentence for the person who wrote the script.

The text of the expression that failed, and the values of the names in it, make the message. What
Python raises in the host's own code is the host's fault, and is told as that, unless it stands in
`_ANSWERS`: there the host does for the script what Python's operators and calls do.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from chartpact.script.diagnosis.location import Place
from chartpact.script.errors import NOT_YOUR_FAULT, Fault, ScriptError, describe_traceback
from chartpact.script.host import called, ta
from chartpact.script.limits import DRY_RUN_BARS
from chartpact.script.runtime.builtins import NAMES
from chartpact.script.runtime.formatting import quoted
from chartpact.script.runtime.intrinsics import Runtime
from chartpact.script.runtime.meter import Exhausted, Meter
from chartpact.script.runtime.operators import Operators, mismatch_hint
from chartpact.script.runtime.series import NotANumber, Series, SeriesTruth, TextSeries
from chartpact.script.runtime.values import FILE, HostObject, Method, a_type, type_name

_PYTHON_TYPES = {
    "NoneType": "None",
    "bool": "a bool",
    "int": "an int",
    "float": "a float",
    "str": "a string",
    "List": "a list",
    "LockedList": "a list",
    "FrozenList": "a list",
    "list": "a list",
    "Dict": "a dict",
    "LockedDict": "a dict",
    "FrozenDict": "a dict",
    "tuple": "a tuple",
    "range": "a range",
    "function": "a function",
    "method": "a function",
    "Method": "a function",
    "builtin_function_or_method": "a function",
    "Series": "a series",
    "TextSeries": "a text series",
    "Ohlcv": "an ohlcv",
    "Chart": "the chart",
}
_VERBS = {
    "+": "add",
    "+=": "add",
    "-": "subtract",
    "-=": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "divide",
    "%": "take the remainder of",
}
_MOST_SURROUNDINGS = 4
_MOST_WORDS = 2_000


# What Python raises in these functions, it raises of the script's own values.
_CALCULATED = (ZeroDivisionError, OverflowError)
_ANSWERS: Mapping[CodeType, tuple[type[Exception], ...]] = {
    function.__code__: raised
    for raised, functions in (
        (_CALCULATED, (Operators.add, Operators.sub, Operators.mul, Operators.div)),
        (_CALCULATED, (Operators.floordiv, Operators.mod)),
        ((IndexError, KeyError), (Operators.index, Operators.store)),
        ((IndexError, TypeError), (Series.__getitem__, TextSeries.__getitem__)),
        ((TypeError,), (Runtime.call, Method.__call__, called)),
    )
    for function in functions
}


def explained(error: Exception, source: str) -> ScriptError:
    """The script error behind an exception that came out of compiled code."""
    place = Place(error.__traceback__, source)
    if _is_ours(error):
        message = "chartpact itself failed while it ran this line"
        kind, hint, within = "crash", NOT_YOUR_FAULT, describe_traceback(error)
    else:
        kind, message, hint = _told(error, place)
        message, hint, within = message[:_MOST_WORDS], hint[:_MOST_WORDS], ""
    return ScriptError(
        "run", kind, message, hint, line=place.line, column=place.column, internal=within
    )


def _is_ours(error: Exception) -> bool:
    """Is it the host that is wrong, and not the script?"""
    if isinstance(error, Fault | MemoryError | RecursionError):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = None if trace is None else trace.tb_frame.f_code
    if code is not None and code.co_filename == FILE:
        return not isinstance(error, _OF_SCRIPTS)
    return code is None or not isinstance(error, _ANSWERS.get(code, ()))


_OF_SCRIPTS = (ArithmeticError, LookupError, NameError, AttributeError, TypeError, ValueError)


def _told(error: Exception, place: Place) -> tuple[str, str, str]:  # noqa: PLR0911
    if isinstance(error, SeriesTruth):
        tested = _tested_series(place)
        place.point(tested)
        culprit = place.text(tested)
        subject = f"{culprit!r} is a series and" if culprit else "a series"
        joined = _JOINED.get(type(place.above(tested)), error.hint)
        return "type", f"{subject} has no single truth value", joined
    if isinstance(error, NotANumber):
        where = _where(place)
        message = f"a series does not go together with {a_type(error.value)}{where}"
        return "type", message, mismatch_hint(error.value, error.value)
    if isinstance(error, Exhausted):
        return "budget", _exhausted(error, place), error.hint
    if isinstance(error, Fault):
        operators = ast.BinOp | ast.Compare | ast.UnaryOp | ast.AugAssign
        where = _where(place) if isinstance(place.node, operators) else ""
        return error.kind, f"{_with_argument(error.message, place)}{where}", error.hint
    if isinstance(error, ZeroDivisionError):
        hint = "test the divisor first; a series divided by 0 is na"
        return "value", f"division by zero{_where(place)}", hint
    if isinstance(error, IndexError):
        return "value", *_outside(place)
    if isinstance(error, KeyError):
        return "value", *_no_key(error, place)
    if isinstance(error, NameError):
        name = getattr(error, "name", None) or _first_quoted(str(error))
        hint = "assign it on every path before"
        if place.shadows(name):
            hint = "what a function assigns is its own: choose another name, or keep it in a list"
        return "name", f"{name!r} is used before it is assigned", hint
    if isinstance(error, AttributeError):
        match = re.match(r"'(\w+)' object has no attribute '(\w+)'", str(error))
        owner = _PYTHON_TYPES.get(match[1], "this") if match else "this"
        return "name", f"{owner} has no {match[2] if match else 'such attribute'!r}", ""
    if isinstance(error, TypeError):
        return "type", *_type_error(str(error), place)
    if isinstance(error, OverflowError):
        return "value", f"a number is too large{_where(place)}", "use floats of moderate size"
    if isinstance(error, MemoryError):
        return "memory", "the script needs more memory than it may have", "keep fewer values"
    if isinstance(error, RecursionError):
        return "value", "something is nested too deep", ""
    return "value", f"a value cannot be used here{_where(place)}", ""


def _exhausted(error: Exhausted, place: Place) -> str:
    call = isinstance(place.node, ast.Call)
    subject = "this loop" if error.loop else "this call" if call else "this"
    around = list(islice(place.surroundings(), _MOST_SURROUNDINGS + 1))
    if len(around) > _MOST_SURROUNDINGS:
        around[-1] = "…"
    return error.told(subject) + (f": {', '.join(around)}" if around else "")


def _where(place: Place) -> str:
    words = place.text(place.node) if isinstance(place.node, ast.expr | ast.AugAssign) else ""
    return f" in {words!r}" if words else ""


def _outside(place: Place) -> tuple[str, str]:
    node = place.node
    if not isinstance(node, ast.Subscript):
        return "an index is outside", ""
    holder, index = place.value(node.value), place.value(node.slice)
    words = place.text(node)
    if isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
        holder = place.value(node.value.value)  # ohlcv.close[i]: as long as ohlcv
    try:
        size = len(holder)
    except TypeError:
        size = -1
    message, hint = f"{words!r} is outside", ""
    if type(index) is int and not isinstance(node.slice, ast.Constant):
        message += f": {place.text(node.slice)} is {index}"
    elif size >= 0:
        message += ":"
    if size > 0:
        what = "elements"
        if isinstance(holder, Series) or type_name(holder) == "ohlcv":
            what = "bars"
            hint = f"compare with len(…) first: a script is checked on {DRY_RUN_BARS} bars"
        message += f"{', and' if type(index) is int and not message.endswith(':') else ''} "
        message += f"there are {what} 0 to {size - 1}"
    elif size == 0:
        message += " and there are no elements" if not message.endswith(":") else " it is empty"
    return message, hint


def _no_key(error: KeyError, place: Place) -> tuple[str, str]:
    key = error.args[0] if error.args else ""
    node = place.node
    holder = place.value(node.value) if isinstance(node, ast.Subscript) else ...
    shown = _key(key)
    if isinstance(node, ast.Subscript):
        name = place.text(node.value)
        if isinstance(holder, dict) and all(type(each) is str for each in holder):
            known = ", ".join(list(holder)[:12]) or "nothing"
            return f"{name!r} has no key {shown}", f"it has {known}"
        return f"{name!r} has no key {shown}", "ask first: key in d, or d.get(key)"
    return f"there is no key {shown}", "ask first: key in d, or d.get(key)"


def _key(key: Any) -> str:
    """A key as its author would write it; a function has no such form."""
    if type(key) is not tuple:
        return f"{key!r:.60}" if type(key) in (str, int, float, type(None)) else a_type(key)
    try:
        return f"{quoted(key, Meter(1_000)):.60}"
    except Fault:
        return a_type(key)


def _type_error(text: str, place: Place) -> tuple[str, str]:
    where = _where(place)
    if match := re.match(r"unsupported operand type\(s\) for (\S+): '(\w+)' and '(\w+)'", text):
        return _mismatch(_VERBS.get(match[1], "combine"), match[2], match[3], where)
    if match := re.match(r"'(\S+)' not supported between instances of '(\w+)' and '(\w+)'", text):
        return _mismatch("compare", match[2], match[3], where)
    if match := re.match(r"can(?:not| only) concatenate (\w+).*?[\"'](\w+)[\"']", text):
        return _mismatch("add", match[1], match[2], where)
    if match := re.match(r"can't multiply sequence by non-int of type '(\w+)'", text):
        return f"a text or a list is repeated by an int{where}", ""
    if match := re.match(r"bad operand type for unary (\S): '(\w+)'", text):
        return f"{match[1]} does not go with {_python(match[2])}{where}", _none_hint(match[2])
    if match := re.match(r"'(\w+)' object is not subscriptable", text):
        hint = "write ohlcv.close" if match[1] == "Ohlcv" else _none_hint(match[1])
        return f"{_python(match[1])} has no elements{where}", hint
    if match := re.match(r"'(\w+)' object does not support item assignment", text):
        hint = "build a list: it may stand for a series" if match[1] == "Series" else ""
        return f"{_python(match[1])} cannot be changed{where}", hint
    if match := re.match(r"object of type '(\w+)' has no len\(\)", text):
        return f"{_python(match[1])} has no length", _none_hint(match[1])
    if match := re.match(r"(\w+) ind(?:ices|ex) must be integers.*not '?(\w+)'?", text):
        return f"an index is an int, not {_python(match[2])}{where}", "cut a float with int(x)"
    if match := re.match(r"unhashable type: '(\w+)'", text):
        return f"{_python(match[1])} cannot be the key of a dict", "use a tuple"
    if match := re.match(r"'(\w+)' object is not callable", text):
        hint = "for one bar write s[i]" if match[1] == "Series" else ""
        return f"{_python(match[1])} cannot be called{where}", hint
    return _wrong_arguments(text, place), _usage(place)


def _usage(place: Place) -> str:
    """How the function is called that was called wrongly, if it is the author's or a host's."""
    if not isinstance(place.node, ast.Call):
        return ""
    parameters = _parameters(place.node.func, place)
    names = [
        each.name if each.default is each.empty else f"{each.name}=…" for each in parameters or ()
    ]
    known = parameters is not None
    return f"write {place.text(place.node.func)}({', '.join(names)})" if known else ""


def _parameters(func: ast.expr, place: Place) -> list[inspect.Parameter] | None:
    """What a function of the author, or a method of the host, takes."""
    function = place.value(func)
    if isinstance(func, ast.Attribute):
        owner = place.value(func.value)
        known = isinstance(owner, HostObject) and func.attr in owner.methods
        function = getattr(type(owner), func.attr) if known else None
    if type(function) is not FunctionType:
        return None
    return [each for each in inspect.signature(function).parameters.values() if each.name != "self"]


_ABOUT = re.compile(r"(?:ta\.(\w+): )?(\w+)(?:: | (?:is|has|holds|must) )")


def _with_argument(message: str, place: Place) -> str:
    """A message of the host about an argument, with what the author wrote for it."""
    about = _ABOUT.match(message)
    if about is None or not isinstance(place.node, ast.Call):
        return message
    call = place.node
    known = ta.signature(about[1]).parameters.values() if about[1] else None
    parameters = [each.name for each in known or _parameters(call.func, place) or ()]
    ohlcv = [type_name(place.value(each)) == "ohlcv" for each in call.args]
    named: dict[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    for each, stands in zip(call.args, ta.stood_for(parameters, ohlcv), strict=True):
        named.update(dict.fromkeys(stands, each))
    given = named.get(about[2])
    if given is None or not any(isinstance(each, ast.Name) for each in ast.walk(given)):
        return message
    return f"{about[0][: about.end(2)]} (here {place.text(given)!r}){message[about.end(2) :]}"


def _mismatch(verb: str, a: str, b: str, where: str) -> tuple[str, str]:
    hint = _none_hint(a) or _none_hint(b)
    if not hint and "str" in (a, b):
        hint = "turn a number into a text with str(x), a text into a number with float(s)"
    return f"cannot {verb} {_python(a)} and {_python(b)}{where}", hint


def _none_hint(python_type: str) -> str:
    return "None is no value: test it first with x == None" if python_type == "NoneType" else ""


def _python(name: str) -> str:
    return _PYTHON_TYPES.get(name, f"a {name.lower()}")


def _wrong_arguments(text: str, place: Place) -> str:
    match = re.match(r"(?:[\w<>]+\.)*_?(\w+|<lambda>)\(\) (.+)", text)
    if match is None:
        return "this does not work with these values"
    name, rest = match[1].replace("<lambda>", "the lambda"), match[2]
    if isinstance(place.node, ast.Call) and isinstance(place.node.func, ast.Name):
        name = name if name == "the lambda" else place.node.func.id
    name = re.sub(r"^(string|list|dict)_", "", name)
    if found := re.match(r"missing \d+ required .*?arguments?: (.+)", rest):
        return f"{name} is called without {found[1]}"
    if found := re.match(r"got an unexpected keyword argument (.+)", rest):
        return f"{name} takes no argument {found[1]}"
    if found := re.match(r"got multiple values for (?:keyword )?argument (.+)", rest):
        return f"{name} is given {found[1]} twice"
    if re.match(r"takes .* positional", rest):
        return f"{name} is called with too many values"
    return f"{name} is called with values it does not take"


def _first_quoted(text: str) -> str:
    match = re.search(r"'(\w+)'", text)
    return match[1] if match else "a name"


# ------------------------------------------------------------------------------------ truth

_JOINED: dict[type, str] = {
    ast.BoolOp: "join conditions with & or |, as in (a > 1) & (b < 2), or take one bar: cond[i]",
    ast.UnaryOp: "turn a condition round with ~, as in ~(a > 1), or take one bar: not cond[i]",
}


def _tested_series(place: Place) -> ast.AST | None:
    """The expression that was asked for its truth and is a series.

    Python may say that it stood at the first part of a condition when it asked the last one.
    """
    node = place.node
    asked: list[ast.expr] = []
    while node is not None:
        asked = [operand for test in _tests(node) for operand in _operands(test)]
        for operand in asked:
            if _is_series(operand, place):
                return operand
        above = place.above(node)
        node = above if isinstance(above, ast.BoolOp | ast.UnaryOp | ast.If | ast.IfExp) else None
    unclear = [operand for operand in asked if _is_unclear(operand)]
    return unclear[0] if unclear else None


def _tests(node: ast.AST | None) -> Iterator[ast.expr]:
    if isinstance(node, ast.If | ast.IfExp):
        yield node.test
    elif isinstance(node, ast.BoolOp | ast.Compare):
        yield node
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.ListComp | ast.DictComp):
        for clause in node.generators:
            yield from clause.ifs
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):  # bool(x), any(x)
        yield from node.args
    elif isinstance(node, ast.expr):  # from Python 3.12 on, the test itself
        yield node


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp):
        for each in node.values:
            yield from _operands(each)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _operands(node.operand)
    elif isinstance(node, ast.List):  # any([a > 1, b < 2])
        yield from node.elts
    else:
        yield node


def _is_unclear(node: ast.expr) -> bool:
    """Does it hang on a value that no name has: an element, or what a function returns?"""
    return any(
        isinstance(each, ast.Subscript)
        or (isinstance(each, ast.Call) and getattr(each.func, "id", "") not in NAMES)
        for each in ast.walk(node)
    )


_SERIES_FIELDS = frozenset("bar_index open high low close volume time hl2 hlc3 ohlc4 hlcc4".split())


def _is_series(node: ast.expr, place: Place) -> bool:
    """Would the expression be a series, with the values its names have now?"""
    if isinstance(node, ast.Name):
        return isinstance(place.names.get(node.id), Series)
    if isinstance(node, ast.Attribute):
        return node.attr in _SERIES_FIELDS
    if isinstance(node, ast.BinOp):
        return _is_series(node.left, place) or _is_series(node.right, place)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and _is_series(node.operand, place)
    if isinstance(node, ast.Compare):
        return _is_series(node.left, place) or _is_series(node.comparators[0], place)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_series(node.value, place)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        given = [*node.args, *(each.value for each in node.keywords)]
        return any(
            _is_series(each, place) or type_name(place.value(each)) == "ohlcv" for each in given
        )
    return False
