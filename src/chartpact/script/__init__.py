"""The script language: check → compile → run in a sandbox → scene or error.

>>> from chartpact import script
>>> source = '''
... PARAMS = [{"name": "n", "type": "int", "default": 3}]
... META = {"title": "Average"}
... def compute(ohlcv, params, chart):
...     chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA")
... '''
>>> script.check(source).ok
True
"""

from chartpact.script.errors import ScriptError
from chartpact.script.limits import Limits
from chartpact.script.program import Extras, Program, Result
from chartpact.script.run import Verdict, check, compile, examine, execute, inspect, run

__all__ = [
    "Extras",
    "Limits",
    "Program",
    "Result",
    "ScriptError",
    "Verdict",
    "check",
    "compile",
    "examine",
    "execute",
    "inspect",
    "run",
]
