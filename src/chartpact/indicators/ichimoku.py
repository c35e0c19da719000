"""The Ichimoku cloud, displaced as TradingView shows it."""

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, bars_of_window, builtin
from chartpact.indicators.drawing import Floats, fill, finite, line, scene
from chartpact.scene import Scene, displace

LEAD = "displacement - 1"


def _middle(bars: Bars, n: int) -> Floats:
    return finite((ta.highest(bars.high, n) + ta.lowest(bars.low, n)) / 2)


@builtin(
    "ichimoku",
    "Ichimoku Cloud",
    "overlay",
    "Tenkan, Kijun, the cloud drawn ahead of the price, and the close drawn behind it.",
    params=(
        bars_of_window("tenkan", 9, "Bars of the conversion line"),
        bars_of_window("kijun", 26, "Bars of the base line"),
        bars_of_window("senkou_b", 52, "Bars of the slower edge of the cloud"),
        bars_of_window("displacement", 26, "The cloud leads, the Chikou lags by one bar less"),
    ),
    tracks=(
        Trace("Tenkan", first="tenkan - 1"),
        Trace("Kijun", first="kijun - 1"),
        Trace("Senkou A", first=f"max(tenkan, kijun) - 1 + {LEAD}"),
        Trace("Senkou B", first=f"senkou_b - 1 + {LEAD}"),
        Trace("Chikou", gaps=f"on the last {LEAD} bars", prefix_stable=False),
    ),
    differences=(
        "The reference neither displaces the cloud nor draws the Chikou span; TradingView draws "
        "the cloud displacement − 1 bars ahead and the close as far behind.",
        "The cloud has the up colour where Senkou A is above Senkou B, else the down colour.",
    ),
)
def ichimoku(bars: Bars, tenkan: int, kijun: int, senkou_b: int, displacement: int) -> Scene:
    lead = displacement - 1
    conversion, base = _middle(bars, tenkan), _middle(bars, kijun)
    fast, slow = finite((conversion + base) / 2), _middle(bars, senkou_b)
    a, a_ahead = displace(fast, lead)
    b, b_ahead = displace(slow, lead)
    behind, _ = displace(bars.close, -lead)
    return scene(
        "Ichimoku",
        line("Tenkan", conversion, ink.BLUE),
        line("Kijun", base, ink.ORANGE),
        line("Senkou A", a, ink.UP, ahead=a_ahead),
        line("Senkou B", b, ink.DOWN, ahead=b_ahead),
        line("Chikou", behind, ink.VIOLET),
        fill(a, b, "auto", 0.12, a_ahead=a_ahead, b_ahead=b_ahead),
    )
