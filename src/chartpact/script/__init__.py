"""The script language: examine a source, load it as a program, execute that on bars.

The folders `source`, `check`, `compile` and `runtime` are the pipeline in its order; `diagnosis`
explains what failed at run time. `host` is what scripts see of chartpact, `stock` the scripts that
ship with it. Everything here happens in the caller's process: `chartpact.sandbox` does the same in
a hardened one.

>>> from chartpact import script
>>> source = '''
... PARAMS = [{"name": "n", "type": "int", "default": 3}]
... META = {"title": "Average"}
... def compute(ohlcv, params, chart):
...     chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA")
... '''
>>> script.validate(source).ok
True
"""

from chartpact.script.dry_run import Verdict, validate
from chartpact.script.errors import ScriptError
from chartpact.script.limits import Limits
from chartpact.script.pipeline import examine, execute, inspect, load
from chartpact.script.program import Extras, Inspected, Program, Result

__all__ = [
    "Extras", "Inspected", "Limits", "Program", "Result", "ScriptError", "Verdict",
    "examine", "execute", "inspect", "load", "validate",
]  # fmt: skip
