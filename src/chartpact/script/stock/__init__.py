"""Builtins as scripts: twins of builtins in Python, held to them by parity tests, and some alone.

>>> source("wavetrend").splitlines()[0]
'# WaveTrend: how far the price has left its average, in two smoothed waves.'
"""

from pathlib import Path

# The builtins that are nothing but a script, with their other names.
ALONE = {
    "alma": (),
    "aroon": (),
    "awesome": ("ao", "awesome_oscillator"),
    "chaikin_oscillator": ("chaikin_osc", "adosc"),
    "chandelier": ("chandelier_exit",),
    "dpo": (),
    "ema": (),
    "hma": (),
    "linreg_channel": ("regression_channel",),
    "market_structure": ("structure",),
    "rma": ("smma",),
    "sessions": (),
    "sma": (),
    "squeeze": ("squeeze_momentum",),
    "stoch_rsi": ("stochrsi",),
    "trix": (),
    "ut_bot": ("utbot",),
    "vwma": (),
    "wma": (),
    "zigzag": ("zig_zag",),
}
_BY_ALIAS = {alias: name for name, aliases in ALONE.items() for alias in aliases}

# The builtins that are written in Python too. A fork of one draws what the builtin draws.
NAMES = tuple(
    sorted({path.stem for path in Path(__file__).parent.glob("*.star")}.difference(ALONE))
)


def canonical(name: str) -> str | None:
    """The name of the builtin that is nothing but a script and has this name or alias.

    >>> canonical("ao"), canonical("rsi")
    ('awesome', None)
    """
    return name if name in ALONE else _BY_ALIAS.get(name)


def source(name: str) -> str:
    """The script that draws what the builtin of this name draws; KeyError if it has none."""
    if name not in NAMES and name not in ALONE:
        raise KeyError(name)
    return Path(__file__).with_name(f"{name}.star").read_text(encoding="utf-8")
