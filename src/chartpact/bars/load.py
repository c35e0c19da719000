"""One door to bars: `sample:NAME`, the path of a file, or `SYMBOL@SOURCE`."""

from os import PathLike

from chartpact.bars import samples
from chartpact.bars.columns import Bars
from chartpact.bars.errors import BarsError


def load(source: str | PathLike[str]) -> Bars:
    """Bars of a bundled synthetic sample, `sample:NAME`."""
    text = str(source)
    if text.startswith(samples.PREFIX):
        return samples.bars(text)
    raise BarsError(f"{text!r} is not a sample: so far only {samples.PREFIX}NAME is loaded")
