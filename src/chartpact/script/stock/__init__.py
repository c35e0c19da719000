"""Builtins as scripts: what `fork` hands out, held to the builtin by the parity tests.

>>> source("wavetrend").splitlines()[0]
'# WaveTrend: how far the price has left its average, in two smoothed waves.'
"""

from pathlib import Path

# The builtins a user may fork. Each has a file here, and the suite fails if one is missing.
NAMES = ("cipher_b", "ichimoku", "rsi_mfi_stoch", "wavetrend")


def source(name: str) -> str:
    """The script that draws what the builtin of this name draws; KeyError if it has none."""
    if name not in NAMES:
        raise KeyError(name)
    return Path(__file__).with_name(f"{name}.star").read_text(encoding="utf-8")
