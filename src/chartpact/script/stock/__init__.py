"""Builtins as scripts: what `fork` hands out, held to the builtin by the parity tests.

>>> source("wavetrend").splitlines()[0]
'# WaveTrend: how far the price has left its average, in two smoothed waves.'
"""

from pathlib import Path

from chartpact.problem import nearest

# The builtins a user may fork. Each has a file here, and the suite fails if one is missing.
NAMES = ("cipher_b", "ichimoku", "rsi_mfi_stoch", "wavetrend")


def source(name: str) -> str:
    """The script that draws what the builtin of this name draws; KeyError if it has none."""
    if name not in NAMES:
        raise KeyError(name)
    return Path(__file__).with_name(f"{name}.star").read_text(encoding="utf-8")


def refusal(name: str, is_builtin: bool = False) -> str:
    """Why there is no script for a name, and which names have one.

    >>> refusal("wavetrent")
    "there is no builtin 'wavetrent'; near: wavetrend; forkable: cipher_b, ichimoku, \
rsi_mfi_stoch, wavetrend"
    """
    forkable = f"forkable: {', '.join(NAMES)}"
    if is_builtin:
        return f"{name!r} cannot be forked: write a script with its ta functions; {forkable}"
    near = nearest(name, NAMES)
    return f"there is no builtin {name!r:.80}{'; near: ' + near[0] if near else ''}; {forkable}"
