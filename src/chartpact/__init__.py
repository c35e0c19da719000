"""Trading indicators you can write yourself, and charts a program can trust.

>>> import chartpact as cp
>>> bars = cp.load("sample:es-5m")
>>> bars.symbol
'ES'

Names are imported when first used, so that `import chartpact.ta` costs no more than NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chartpact._version import VERSION as __version__

if TYPE_CHECKING:
    from chartpact import script as script
    from chartpact import ta as ta
    from chartpact.bars import Bars as Bars
    from chartpact.bars import align as align
    from chartpact.catalogue import list_indicators as list_indicators
    from chartpact.charts import chart as chart
    from chartpact.charts import indicator as indicator
    from chartpact.contracts import read as read
    from chartpact.joint import read_state as read_state
    from chartpact.localstudy import study as study
    from chartpact.lookahead import prove as prove
    from chartpact.pine import import_pine as import_pine
    from chartpact.scene import Scene as Scene
    from chartpact.snapshot import Snapshot as Snapshot
    from chartpact.sources import load as load

# public name → (module, attribute); None = the module itself
_PUBLIC: dict[str, tuple[str, str | None]] = {
    "Bars": ("chartpact.bars", "Bars"),
    "Scene": ("chartpact.scene", "Scene"),
    "Snapshot": ("chartpact.snapshot", "Snapshot"),
    "align": ("chartpact.bars", "align"),
    "chart": ("chartpact.charts", "chart"),
    "import_pine": ("chartpact.pine", "import_pine"),
    "indicator": ("chartpact.charts", "indicator"),
    "list_indicators": ("chartpact.catalogue", "list_indicators"),
    "load": ("chartpact.sources", "load"),
    "prove": ("chartpact.lookahead", "prove"),
    "read": ("chartpact.contracts", "read"),
    "read_state": ("chartpact.joint", "read_state"),
    "script": ("chartpact.script", None),
    "study": ("chartpact.localstudy", "study"),
    "ta": ("chartpact.ta", None),
}

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604  (the table above holds the names)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'chartpact' has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    loaded = import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
