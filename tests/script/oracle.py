"""starlark-pyo3 as the judge of what is Starlark, and of what a scalar script means."""

import json
import math
import re

import starlark

from chartpact import script
from chartpact.script.dry_run import dry_run_bars

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'


def dialect() -> starlark.Dialect:
    standard = starlark.Dialect.standard()
    standard.enable_f_strings = True
    return standard


def parses(source: str) -> str | None:
    """Why Starlark cannot read the source, or None if it can."""
    try:
        starlark.parse("script.star", source, dialect=dialect())
    except starlark.StarlarkError as error:
        return str(error)
    return None


FAILED = "(fails)"
PANICKED = "(panics)"


def value_there(expression: str) -> str:
    """The type and the text of an expression in Starlark, or that it fails."""
    return program_there(f"def f():\n    return {expression}\n")


def value_here(expression: str) -> str:
    """The type and the text of an expression here, or that it fails."""
    return program_here(f"def f():\n    return {expression}\n")


def program_there(source: str) -> str:
    """The type and the text of what f() returns in Starlark, or that it fails."""
    source += "\ndef told():\n    x = f()\n    return [type(x), repr(x)]\n"
    try:
        module = starlark.Module()
        tree = starlark.parse("script.star", source, dialect=dialect())
        starlark.eval(module, tree, starlark.Globals.standard())
        options = starlark.EvalOptions(max_callstack_size=50)
        kind, text = module.freeze().call_with(options, "told").value
    except starlark.StarlarkError:
        return FAILED
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # as starlark-rust does on d.update(d)
            raise
        return PANICKED
    return f"{kind} {plain(text)}"


def program_here(source: str) -> str:
    """The type and the text of what f() returns here, or that it fails."""
    try:
        return run_here(source)
    except script.ScriptError:
        return FAILED


def run_here(source: str) -> str:
    """The type and the text of what f() returns here; raises why it fails."""
    source = (
        HEAD
        + source
        + "\ndef compute(ohlcv, params, chart):\n    x = f()\n    print(type(x), repr(x))\n"
    )
    return plain(script.execute(script.load(source), dry_run_bars(5)).log[0])


_FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")


def plain(text: str) -> str:
    """The text with floats cut to the six digits that Starlark prints."""
    return _FLOAT.sub(lambda match: _six(match[0]), text)


def _six(text: str) -> str:
    number = float(text)
    if not math.isfinite(number):
        return text
    return json.dumps(float(f"{number:.5e}") + 0.0)  # and -0.0 is 0.0
