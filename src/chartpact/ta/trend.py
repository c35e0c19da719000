"""Trend: which way the market goes, and where that would end."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Floats,
    TaError,
    length,
    number,
    prices,
    target,
    together,
)
from chartpact.ta.kernels import kernel

__all__ = ["dmi", "sar", "supertrend"]

_dmi: Callable[..., tuple[Floats, Floats, Floats]] = kernel("dmi")
_supertrend: Callable[..., tuple[Floats, Floats]] = kernel("supertrend")
_sar: Callable[..., Floats] = kernel("sar")

PRICES = ("high", "low", "close")


@prices(*PRICES)
def dmi(
    high: ArrayLike, low: ArrayLike, close: ArrayLike, di_n: int, adx_n: int
) -> tuple[Floats, Floats, Floats]:
    """Directional movement: (+DI, −DI, ADX), each 0 … 100.

    Smoothed by rma over di_n and adx_n bars from bar 1 on. A bar where an input is na, and the bar
    after it, is na in all three and leaves them where they were.

    >>> plus, minus, adx = dmi([5, 6, 9], [4, 5, 8], [5, 5, 9], 1, 1)
    >>> plus
    array([ nan, 100.,  75.])
    """
    h, low_, c = together("dmi", PRICES, high, low, close)
    return _dmi(h, low_, c, length("dmi", "di_n", di_n), length("dmi", "adx_n", adx_n))


@prices(*PRICES)
def supertrend(
    high: ArrayLike, low: ArrayLike, close: ArrayLike, factor: float, n: int
) -> tuple[Floats, Floats]:
    """A stop that trails hl2 by `factor` atr(n), and its direction: −1 up, 1 down.

    As in Pine, bar 0 is (0, 1) and the trend starts down with the first atr. On an na bar the line
    is na and the direction stays.

    >>> line, direction = supertrend([5, 6, 9], [4, 5, 8], [5, 5, 9], 1, 2)
    >>> line, direction
    (array([0. , 6.5, 6. ]), array([ 1.,  1., -1.]))
    """
    h, low_, c = together("supertrend", PRICES, high, low, close)
    factor = number("supertrend", "factor", factor)
    return _supertrend(h, low_, c, factor, length("supertrend", "n", n))


@prices(*PRICES)
def sar(
    high: ArrayLike,
    low: ArrayLike,
    close: ArrayLike,
    start: float,
    inc: float,
    max: float,
    out: Floats | None = None,
) -> Floats:
    """Parabolic stop and reverse: a stop that speeds up with every new extreme of the trend.

    From bar 1 on; a bar where high or low is na is na and leaves it where it was.

    >>> sar([5, 6, 9], [4, 5, 8], [5, 5, 9], 0.02, 0.02, 0.2)
    array([nan,  4.,  4.])
    """
    h, low_, c = together("sar", PRICES, high, low, close)
    for name, value in (("start", start), ("inc", inc), ("max", max)):
        if number("sar", name, value) < 0:
            raise TaError("sar", name, value, "must not be negative")
    return _sar(
        h, low_, c, start, inc, max, out=None if out is None else target("sar", out, h, low_, c)
    )
