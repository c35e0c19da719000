"""The options of a picture."""

from typing import Annotated, Literal, TypeAlias, TypedDict

from chartpact.options import Option

Size: TypeAlias = tuple[int, int] | str  # (1200, 800) or "1200x800"
Theme: TypeAlias = Literal["dark", "light"]
Kind: TypeAlias = Literal["candles", "heikin_ashi", "bars", "line"]
Volume: TypeAlias = Literal["pane", "overlay", "none"]

PICTURE_BARS = 200  # the last bars of a chart, in a picture that does not say how many


class LookOptions(TypedDict, total=False):
    """The one table of them; an option that is None is as one that is not there."""

    theme: Annotated[Theme | None, Option("its colours")]
    size: Annotated[Size | None, Option("its pixels, such as 1200x800", "WxH")]
    width: Annotated[int | None, Option("its pixels across", "N")]
    height: Annotated[int | None, Option("its pixels down; without it, as the panes need", "N")]
    scale: Annotated[float | None, Option("PNG at N times that", "N")]
    kind: Annotated[Kind | None, Option("how prices are drawn")]
    log: Annotated[bool | None, Option("a logarithmic price scale")]
    volume: Annotated[Volume | None, Option("where volume goes")]
    sessions: Annotated[
        str | None,
        Option(
            "shade what lies outside, as in '0930-1600 America/New_York'; days: every second",
            "HOURS",
        ),
    ]
    tz: Annotated[str | None, Option("time zone of the axis, and of times that are given", "ZONE")]
