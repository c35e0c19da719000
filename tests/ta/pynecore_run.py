"""Runs expressions in PyneCore over bars, in a process of its own.

    python -m tests.ta.pynecore_run FOLDER

FOLDER holds `script.py` and `bars.npy` (time, open, high, low, close, volume); the columns that the
script returns are written to `columns.npz`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from pynecore.core.script_runner import ScriptRunner
from pynecore.core.syminfo import SymInfo
from pynecore.types.ohlcv import OHLCV

HEAD = '''"""
@pyne
"""
from pynecore.lib import (
    bar_index, close, fixnan, high, low, math, na, nz, open, script, ta, volume,
)
from pynecore.types import Series


@script.indicator(title="Witness", shorttitle="Witness")
def main():
'''
SYMBOL = SymInfo(
    prefix="CME",
    description="",
    ticker="ES",
    currency="USD",
    period="1",
    type="futures",
    mintick=0.25,
    pricescale=100,
    minmove=25,
    pointvalue=50,
    mincontract=1,
    opening_hours=[],
    session_starts=[],
    session_ends=[],
    timezone="UTC",
)


def script(source: str, expressions: dict[str, tuple[str, int]]) -> str:
    """A script that returns each expression's results; `source` is what it calls x."""
    lines = [f"    x: Series[float] = {source}"]
    lines += ["    up = close > open", "    anchor = bar_index % 50 == 7", "    columns = {}"]
    for place, (name, (expression, results)) in enumerate(expressions.items()):
        targets = [f"value_{place}_{k}" for k in range(results)]
        lines.append(f"    {', '.join(targets)} = {expression}")
        lines += [f'    columns["{name} {k}"] = {target}' for k, target in enumerate(targets)]
    return HEAD + "\n".join([*lines, "    return columns", ""])


def number(value: Any) -> float:
    """PyneCore's na is an object that is no number."""
    try:
        return float(value)
    except TypeError:
        return np.nan


def main(folder: Path) -> None:
    bars = np.load(folder / "bars.npy").T.tolist()
    candles = [OHLCV(int(time), *prices) for time, *prices in bars]
    rows = [row for _, row in ScriptRunner(folder / "script.py", candles, SYMBOL).run_iter()]
    columns = {name: np.array([number(row[name]) for row in rows]) for name in rows[0]}
    np.savez(folder / "columns.npz", **columns)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
