"""Builtins as scripts: what `fork` hands out, held to the builtin by the parity tests.

>>> source("wavetrend").splitlines()[0]
'# WaveTrend: how far the price has left its average, in two smoothed waves.'
"""

from importlib.resources import files

from chartpact.indicators import IndicatorError, resolve

# The builtins a user may fork. Each has a file here, and the suite fails if one is missing.
NAMES = ("cipher_b", "ichimoku", "rsi_mfi_stoch", "wavetrend")


def source(name: str) -> str:
    """The script that draws what the builtin draws; an alias will do, KeyError if it has none."""
    try:
        known = resolve(name).name
    except IndicatorError:
        raise KeyError(name) from None
    if known not in NAMES:
        raise KeyError(name)
    return files(__name__).joinpath(f"{known}.star").read_text(encoding="utf-8")
