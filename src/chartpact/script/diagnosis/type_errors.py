"""Python's TypeErrors in the words of the language: its types, its operators, its functions."""

import ast
import inspect
import re
from types import FunctionType

from chartpact.script.diagnosis.location import Location
from chartpact.script.host.ohlcv import Ohlcv
from chartpact.script.runtime.series import Series, TextSeries
from chartpact.script.runtime.values import TYPE_NAMES, HostObject, with_article

_PYTHON_TYPES = {  # the types of the language by the names of their classes
    **{kind.__name__: with_article(name) for kind, name in TYPE_NAMES.items()},
    **{kind.__name__: with_article(kind.type_name) for kind in (Series, TextSeries, Ohlcv)},
    "list": "a list",
    "builtin_function_or_method": "a function",
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


def python_type(name: str, unknown: str = "") -> str:
    """The name of a class of Python as a type of the language."""
    return _PYTHON_TYPES.get(name, unknown or f"a {name.lower()}")


def explain_type_error(text: str, location: Location) -> tuple[str, str]:
    """The message and the hint for a TypeError with this text."""
    where = quote_expression(location)
    if match := re.match(r"unsupported operand type\(s\) for (\S+): '(\w+)' and '(\w+)'", text):
        return _mismatch(_VERBS.get(match[1], "combine"), match[2], match[3], where)
    if match := re.match(r"'(\S+)' not supported between instances of '(\w+)' and '(\w+)'", text):
        return _mismatch("compare", match[2], match[3], where)
    if match := re.match(r"can(?:not| only) concatenate (\w+).*?[\"'](\w+)[\"']", text):
        return _mismatch("add", match[1], match[2], where)
    if match := re.match(r"can't multiply sequence by non-int of type '(\w+)'", text):
        return f"a text or a list is repeated by an int{where}", ""
    if match := re.match(r"bad operand type for unary (\S): '(\w+)'", text):
        return f"{match[1]} does not go with {python_type(match[2])}{where}", _none_hint(match[2])
    if match := re.match(r"'(\w+)' object is not subscriptable", text):
        hint = "write ohlcv.close" if match[1] == "Ohlcv" else _none_hint(match[1])
        return f"{python_type(match[1])} has no elements{where}", hint
    if match := re.match(r"'(\w+)' object does not support item assignment", text):
        hint = "build a list: it may stand for a series" if match[1] == "Series" else ""
        return f"{python_type(match[1])} cannot be changed{where}", hint
    if match := re.match(r"object of type '(\w+)' has no len\(\)", text):
        return f"{python_type(match[1])} has no length", _none_hint(match[1])
    if match := re.match(r"(\w+) ind(?:ices|ex) must be integers.*not '?(\w+)'?", text):
        return f"an index is an int, not {python_type(match[2])}{where}", "cut a float with int(x)"
    if match := re.match(r"unhashable type: '(\w+)'", text):
        return f"{python_type(match[1])} cannot be the key of a dict", "use a tuple"
    if match := re.match(r"'(\w+)' object is not callable", text):
        hint = "for one bar write s[i]" if match[1] == "Series" else ""
        return f"{python_type(match[1])} cannot be called{where}", hint
    return _wrong_arguments(text, location), _usage(location)


def quote_expression(location: Location) -> str:
    """The expression that failed: " in 'a + b'"."""
    node = location.node
    text = location.text(node) if isinstance(node, ast.expr | ast.AugAssign) else ""
    return f" in {text!r}" if text else ""


def _mismatch(verb: str, a: str, b: str, where: str) -> tuple[str, str]:
    hint = _none_hint(a) or _none_hint(b)
    if not hint and "str" in (a, b):
        hint = "turn a number into a text with str(x), a text into a number with float(s)"
    return f"cannot {verb} {python_type(a)} and {python_type(b)}{where}", hint


def _none_hint(name: str) -> str:
    return "None is no value: test it first with x == None" if name == "NoneType" else ""


def _wrong_arguments(text: str, location: Location) -> str:
    match = re.match(r"(?:[\w<>]+\.)*_?(\w+|<lambda>)\(\) (.+)", text)
    if match is None:
        return "this does not work with these values"
    name, rest = match[1].replace("<lambda>", "the lambda"), match[2]
    if isinstance(location.node, ast.Call) and isinstance(location.node.func, ast.Name):
        name = name if name == "the lambda" else location.node.func.id
    if match := re.match(r"missing \d+ required .*?arguments?: (.+)", rest):
        return f"{name} is called without {match[1]}"
    if match := re.match(r"got an unexpected keyword argument ('[^']*')", rest):
        return f"{name} takes no argument {match[1]}"
    if match := re.match(r"got multiple values for (?:keyword )?argument (.+)", rest):
        return f"{name} is given {match[1]} twice"
    if re.match(r"takes .* positional", rest):
        return f"{name} is called with too many values"
    return f"{name} is called with values it does not take"


def _usage(location: Location) -> str:
    """How the function is called that was called wrongly, if it is the author's or a host's."""
    if not isinstance(location.node, ast.Call):
        return ""
    function = location.node.func
    parameters = parameters_of(function, location)
    if parameters is None:
        return ""
    names = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}=…"
        for parameter in parameters
    ]
    return f"write {location.text(function)}({', '.join(names)})"


def parameters_of(func: ast.expr, location: Location) -> list[inspect.Parameter] | None:
    """The parameters of a function of the author, or of a method of the host."""
    function = location.value(func)
    if isinstance(func, ast.Attribute):
        owner = location.value(func.value)
        known = isinstance(owner, HostObject) and func.attr in owner.methods
        function = getattr(type(owner), func.attr) if known else None
    if type(function) is not FunctionType:
        return None
    signature = inspect.signature(function)
    return [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
