"""What to write instead: hints for names that a script does not have."""

import ast
from collections.abc import Iterable, Mapping

from chartpact.prices import DERIVED, STORED
from chartpact.problem import did_you_mean
from chartpact.script.check import pine
from chartpact.script.check.checked import Checked
from chartpact.script.check.scopes import local_names
from chartpact.script.runtime.builtins import NAMES as BUILTINS

OHLCV_NUMBERS = frozenset(
    ("bar_index", "time", "close_time", "trading_day", "tick_size", *STORED, *DERIVED)
)

_OF_PYTHON = {
    "round": "write math.round(x), or ta.round(s) of a series",
    **dict.fromkeys(("np", "pd"), "series have operators: a - b; ta has the functions"),
    "set": "use a dict, or a list",
    "isinstance": 'write type(x) == "int"',
    "filter": "write [x for x in values if f(x)]",
    "nan": pine.HINTS["na"],
    "true": "write True",
    "false": "write False",
    **dict.fromkeys(("null", "none"), "write None"),
    "float64": "write float(x)",
    "math.inf": 'write float("inf")',
    "math.nan": 'write float("nan"), or None in a list; test with ta.isna(x)',
    "math.isnan": "write ta.isna(x)",
    "math.hypot": "write math.sqrt(x * x + y * y)",
    "math.fabs": pine.HINTS["math.abs"],
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
    for known in (pine.HINTS, _OF_PYTHON):
        if name in known:
            return known[name]
    if name in OHLCV_NUMBERS:
        return f"did you mean ohlcv.{name}?"
    for space, functions in namespaces.items():
        if name in functions:
            return f"did you mean {space}.{name}?"
    return did_you_mean(name, visible, alike=0.6)  # names are short: below, too much is alike


def hint_for_member(space: str, name: str) -> str:
    """What to write for `space.name` of Pine or Python, or nothing."""
    return pine.hint_for_member(space, name) or _OF_PYTHON.get(f"{space}.{name}", "")


def hint_for_function(space: str, name: str, namespaces: Mapping[str, set[str]]) -> str:
    """Where the function is that the namespace does not have, or one of a similar name."""
    for other, functions in namespaces.items():
        if name in functions:
            return f"did you mean {other}.{name}?"
    if name in BUILTINS:
        return f"did you mean {name}?"
    return did_you_mean(name, sorted(namespaces[space]), show=f"{space}.{{}}".format)


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
