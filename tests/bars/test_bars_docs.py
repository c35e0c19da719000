"""The page about bars names what there is."""

from dataclasses import fields
from pathlib import Path

from tests.cases import in_one_test

from chartpact import bars
from chartpact.bars import samples
from chartpact.bars.options import LoadOptions
from chartpact.bars.roles import TICK_VOLUME_NAMES, TIME_NAMES, VOLUME_NAMES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bars.md").read_text()
PUBLIC = {name for name in bars.__all__ if name not in ("Bar", "COLUMNS")}
METHODS = {name for name in vars(bars.Bars) if not name.startswith("_")} - {"take", "periods"}


@in_one_test(
    "name",
    sorted(
        {*PUBLIC, *METHODS, *samples.SAMPLES, *LoadOptions.__annotations__}
        | {*TIME_NAMES, *VOLUME_NAMES, *TICK_VOLUME_NAMES}
        | {field.name for field in fields(bars.Bars)}
        | {field.name for field in fields(samples.economiccalendar.Event)}
    ),
)
def test_the_page_about_bars_mentions(name):
    assert name in PAGE
