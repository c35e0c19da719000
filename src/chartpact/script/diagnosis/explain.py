"""From an exception in compiled code to a sentence for the person who wrote the script.

The text of the expression that failed, and the values of the names in it, make the message. What
Python raises in the host's own code is the host's fault and is reported as that. The exceptions in
`_RAISED_FOR_SCRIPTS` are not: there the host does for a script what operators and calls do.
"""

import ast
import re
from collections.abc import Mapping
from itertools import islice
from types import CodeType
from typing import Any

from chartpact.script.diagnosis.conditions import explain_truth
from chartpact.script.diagnosis.location import Location
from chartpact.script.diagnosis.type_errors import (
    explain_type_error,
    parameters_of,
    quote_expression,
)
from chartpact.script.errors import (
    NOT_YOUR_FAULT,
    OPERAND,
    TRUTH,
    Fault,
    ScriptError,
    describe_traceback,
)
from chartpact.script.host import invoke, ta
from chartpact.script.limits import DRY_RUN_BARS
from chartpact.script.runtime.arithmetic import mismatch_hint
from chartpact.script.runtime.formatting import to_repr
from chartpact.script.runtime.intrinsics import Runtime
from chartpact.script.runtime.meter import Exhausted, Meter
from chartpact.script.runtime.methods import unknown_attribute
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.series import Series, TextSeries
from chartpact.script.runtime.values import FILE, Method, a_type, type_name

_ONE_TABLE = "draw a table once, after the loop: its last state is what is seen"
_MOST_SURROUNDINGS = 4
_MOST_CHARS = 2_000

_OF_SCRIPTS = (ArithmeticError, LookupError, NameError, AttributeError, TypeError, ValueError)
_CALCULATION = (ZeroDivisionError, OverflowError)
_RAISED_FOR_SCRIPTS: Mapping[CodeType, tuple[type[Exception], ...]] = {
    function.__code__: raised
    for raised, functions in (
        (_CALCULATION, (Operators.add, Operators.sub, Operators.mul, Operators.div)),
        (_CALCULATION, (Operators.floordiv, Operators.mod)),
        ((IndexError, KeyError), (Operators.index, Operators.from_end, Operators.store)),
        ((IndexError, TypeError), (Series.__getitem__, TextSeries.__getitem__)),
        ((TypeError,), (Runtime.call, Runtime.apply, Method.__call__, invoke)),
    )
    for function in functions
}


def explain(error: Exception, source: str) -> ScriptError:
    """The script error behind an exception that came out of compiled code."""
    location = Location(error.__traceback__, source)
    internal = ""
    if _is_host_fault(error):
        kind, message = "crash", "chartpact itself failed while it ran this line"
        hint, internal = NOT_YOUR_FAULT, describe_traceback(error)
    else:
        kind, message, hint = _explain(error, location)
    return ScriptError(
        "run",
        kind,
        message[:_MOST_CHARS],
        hint[:_MOST_CHARS],
        line=location.line,
        column=location.column,
        internal=internal,
    )


def _is_host_fault(error: Exception) -> bool:
    if isinstance(error, Fault | MemoryError | RecursionError):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = None if trace is None else trace.tb_frame.f_code
    if code is not None and code.co_filename == FILE:
        return not isinstance(error, _OF_SCRIPTS)
    return code is None or not isinstance(error, _RAISED_FOR_SCRIPTS.get(code, ()))


def _explain(error: Exception, location: Location) -> tuple[str, str, str]:  # noqa: PLR0911
    """The kind, the message and the hint."""
    if isinstance(error, Fault) and error.cause == TRUTH:
        return "type", *explain_truth(location, error.hint)
    where = quote_expression(location)
    if isinstance(error, Fault) and error.cause == OPERAND:
        message = f"a series does not go together with {a_type(error.value)}{where}"
        return "type", message, mismatch_hint(error.value, error.value)
    if isinstance(error, Exhausted):
        hint = _ONE_TABLE if _writes_table(location) else error.hint
        return "budget", _budget_message(error, location), hint
    if isinstance(error, Fault):
        operators = ast.BinOp | ast.Compare | ast.UnaryOp | ast.AugAssign
        where = where if isinstance(location.node, operators) else ""
        return error.kind, f"{_quote_argument(error.message, location)}{where}", error.hint
    if isinstance(error, ZeroDivisionError):
        hint = "test the divisor first; a series divided by 0 is na"
        return "value", f"division by zero{where}", hint
    if isinstance(error, IndexError):
        return "value", *_explain_index(location)
    if isinstance(error, KeyError):
        return "value", *_explain_key(error, location)
    if isinstance(error, NameError):
        match = re.search(r"'(\w+)'", str(error))
        name = getattr(error, "name", None) or (match[1] if match else "a name")
        hint = "assign it on every path before"
        if location.shadows(name):
            hint = "what a function assigns is its own: choose another name, or keep it in a list"
        return "name", f"{name!r} is used before it is assigned", hint
    if isinstance(error, AttributeError):
        fault = unknown_attribute(error.obj, str(error.name))
        return fault.kind, fault.message, fault.hint
    if isinstance(error, TypeError):
        return "type", *explain_type_error(str(error), location)
    if isinstance(error, OverflowError):
        return "value", f"a number is too large{where}", "use floats of moderate size"
    if isinstance(error, MemoryError):
        return "memory", "the script needs more memory than it may have", "keep fewer values"
    if isinstance(error, RecursionError):
        return "value", "something is nested too deep", ""
    return "value", f"a value cannot be used here{where}", ""


def _budget_message(error: Exhausted, location: Location) -> str:
    is_call = isinstance(location.node, ast.Call)
    subject = "this loop" if error.loop else "this call" if is_call else "this"
    around = list(islice(location.surroundings(), _MOST_SURROUNDINGS + 1))
    if len(around) > _MOST_SURROUNDINGS:
        around[-1] = "…"
    return error.message_for(subject) + (f": {', '.join(around)}" if around else "")


def _writes_table(location: Location) -> bool:
    """Whether the failing expression is a call that writes a table, or stands inside one."""
    node = location.node
    while node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in ("cell", "new_table") or name.startswith("cell_set_"):
                return True
        node = location.parent(node)
    return False


def _explain_index(location: Location) -> tuple[str, str]:
    node = location.node
    if not isinstance(node, ast.Subscript):
        return "an index is outside", ""
    holder, index = location.value(node.value), location.value(node.slice)
    if isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
        holder = location.value(node.value.value)  # ohlcv.close[i]: as long as ohlcv
    try:
        size = len(holder)
    except TypeError:
        size = -1
    outside = f"{location.text(node)!r} is outside"
    computed = type(index) is int and not isinstance(node.slice, ast.Constant)
    if computed:
        outside += f": {location.text(node.slice)} is {index}"
    if size < 0:
        return outside, ""
    if size == 0:
        return f"{outside}{' and there are no elements' if computed else ': it is empty'}", ""
    noun, hint = "elements", ""
    if isinstance(holder, Series) or type_name(holder) == "ohlcv":
        noun = "bars"
        hint = f"compare with len(…) first: a script is checked on {DRY_RUN_BARS} bars"
    return f"{outside}{', and' if computed else ':'} there are {noun} 0 to {size - 1}", hint


def _explain_key(error: KeyError, location: Location) -> tuple[str, str]:
    key = _format_key(error.args[0] if error.args else "")
    node = location.node
    if not isinstance(node, ast.Subscript):
        return f"there is no key {key}", "ask first: key in d, or d.get(key)"
    message = f"{location.text(node.value)!r} has no key {key}"
    holder = location.value(node.value)
    if isinstance(holder, dict) and all(type(name) is str for name in holder):
        return message, f"it has {', '.join(list(holder)[:12]) or 'nothing'}"
    return message, "ask first: key in d, or d.get(key)"


def _format_key(key: Any) -> str:
    """A key as its author would write it; a function has no such form."""
    if type(key) is not tuple:
        return f"{key!r:.60}" if type(key) in (str, int, float, type(None)) else a_type(key)
    try:
        return f"{to_repr(key, Meter(1_000)):.60}"
    except Fault:
        return a_type(key)


_ARGUMENT = re.compile(r"(?:ta\.(\w+): )?(\w+)(?:: | (?:is|has|holds|must) )")


def _quote_argument(message: str, location: Location) -> str:
    """A message of the host about an argument, with what the author wrote for it."""
    match = _ARGUMENT.match(message)
    call = location.node
    if match is None or not isinstance(call, ast.Call):
        return message
    known = ta.signature(match[1]).parameters.values() if match[1] else None
    parameters = [parameter.name for parameter in known or parameters_of(call.func, location) or ()]
    is_ohlcv = [type_name(location.value(argument)) == "ohlcv" for argument in call.args]
    named: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in call.keywords}
    for argument, names in zip(call.args, ta.arguments_for(parameters, is_ohlcv), strict=True):
        named.update(dict.fromkeys(names, argument))
    written = named.get(match[2])
    if written is None or not any(isinstance(part, ast.Name) for part in ast.walk(written)):
        return message
    end = match.end(2)
    return f"{message[:end]} (here {location.text(written)!r}){message[end:]}"
