"""Small functions that an imported script may need, and which of them stand for what of Pine's."""

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

_TEXT = resources.files(__package__).joinpath("helpers.star").read_text("utf-8")
_FUNCTION = re.compile(
    r"^((?:# [^\n]*\n)*def (\w+)\(.*?)(?=\n\n(?:#|def)|\Z)", re.MULTILINE | re.DOTALL
)

# The text of each, comment included, in the order of helpers.star.
HELPERS: Mapping[str, str] = MappingProxyType(
    {match[2]: match[1].rstrip() for match in _FUNCTION.finditer(_TEXT)}
)
HELPER_CALL = re.compile(r"\b(" + "|".join(HELPERS) + r")\(")


def needs(name: str) -> set[str]:
    """The helpers that a helper calls itself."""
    return set(HELPER_CALL.findall(HELPERS[name])) - {name}


# Functions with a form for one bar that keeps a state: helper, and the arguments it takes.
BY_BAR: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ta.sma": ("sma_at", ("source", "length")),
    "math.sum": ("sum_at", ("source", "length")),
    "ta.ema": ("ema_at", ("source", "length")),
    "ta.rma": ("rma_at", ("source", "length")),
    "ta.wma": ("wma_at", ("source", "length")),
    "ta.stdev": ("stdev_at", ("source", "length")),
    "ta.highest": ("highest_at", ("source", "length")),
    "ta.lowest": ("lowest_at", ("source", "length")),
    "ta.cum": ("cum_at", ("source",)),
    "ta.crossover": ("crossover_at", ("source1", "source2")),
    "ta.crossunder": ("crossunder_at", ("source1", "source2")),
    "ta.cross": ("cross_at", ("source1", "source2")),
    "ta.barssince": ("barssince_at", ("condition",)),
    "ta.valuewhen": ("valuewhen_at", ("condition", "source", "occurrence")),
    "fixnan": ("fixnan_at", ("source",)),
    "ta.change": ("change_at", ("source", "length")),
    "ta.mom": ("change_at", ("source", "length")),
}
