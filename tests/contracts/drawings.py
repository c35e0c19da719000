"""Pictures as the four documented indicators draw them, made by hand from what is known of them.

Everything here is plain JSON in the shape of a snapshot; nothing is shared with the engine.
"""

import itertools

STEP = 300_000
START = 1_700_000_100_000
LAST_BAR = 400
BEFORE, AFTER = "#2962ff", "#f23645"
ASIA, LONDON, NY_AM = "#7700ff", "#2157f3", "#e9801e"
HI, LO, SWEPT = "#ff4444", "#44bb44", "#888888"
BULL, BEAR = "#2962ff", "#9b0000"
BLACK = "#363a45"

_ids = itertools.count(1)


def at(bar):
    """A place on the time axis; None is outside the loaded history."""
    if bar is None:
        return {"n": None, "bar": None, "time": None}
    time = START + bar * STEP if bar <= LAST_BAR else None
    return {"n": bar, "bar": bar, "time": time}


def line(x1, y1, color, style="solid", x2=None, y2=None, alpha="ff", **changes):
    record = {
        "id": next(_ids),
        "x1": at(x1),
        "y1": y1,
        "x2": at((x1 or 0) + 20 if x2 is None else x2),
        "y2": y1 if y2 is None else y2,
        "extend": "none",
        "style": style,
        "color": None if color is None else f"{color}{alpha}",
        "width": 1,
        "force_overlay": False,
    }
    return {**record, **changes}


def box(left, top, bottom, border, bgcolor=None, right=None, **changes):
    record = {
        "id": next(_ids),
        "left": at(left),
        "top": top,
        "right": at((left or 0) + 12 if right is None else right),
        "bottom": bottom,
        "border_color": None if border is None else f"{border}ff",
        "bgcolor": f"{bgcolor or border or '#000000'}26",
        "border_style": "solid",
        "border_width": 1,
        "extend": "none",
        "text": "",
        "text_color": None,
        "text_size": "auto",
        "text_halign": "center",
        "text_valign": "center",
        "force_overlay": False,
    }
    return {**record, **changes}


def label(x, y, text, style="label_down", color=BLACK, **changes):
    record = {
        "id": next(_ids),
        "x": at(x),
        "y": y,
        "yloc": "price",
        "text": text,
        "style": style,
        "color": f"{color}ff",
        "text_color": "#ffffffff",
        "size": "small",
        "text_align": "center",
        "tooltip": "",
        "force_overlay": False,
    }
    return {**record, **changes}


def cell(row, text, bgcolor=None, column=0, **changes):
    record = {
        "id": next(_ids),
        "table": 1,
        "position": "bottom_right",
        "row": row,
        "column": column,
        "text": text,
        "bgcolor": bgcolor,
        "text_color": "#ffffffff",
        "size": "normal",
        "tooltip": "",
    }
    return {**record, **changes}


def study(name, **channels):
    empty = {"labels": [], "lines": [], "boxes": [], "cells": []}
    return {"id": name.lower().replace(" ", "-"), "name": name, **empty, **channels}


def snapshot(*studies, chart=None, source=None):
    return {
        "schema": 1,
        "chart": {
            "symbol": "ES1!",
            "timeframe": "5m",
            "as_of": START + (LAST_BAR + 1) * STEP,
            "confirmed": True,
            "last_bar": LAST_BAR,
            "last_time": START + LAST_BAR * STEP,
            "tick_size": 0.25,
            "timezone": "America/New_York",
            **(chart or {}),
        },
        "source": {"name": "drawn by hand", **(source or {})},
        "studies": list(studies),
    }


def without(data, *path):
    """A copy of nested data without one key."""
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    inside = without(data[path[0]], *path[1:])
    return {**data, path[0]: inside}


# --------------------------------------------------------------------------------------- Bias AI


def mark_color(mark, before=BEFORE, after=AFTER):
    """A cell's background: half transparent, or none."""
    return {"none": None, "before": f"{before}80", "after": f"{after}80"}[mark]


def bias_cells(pdh="none", pdl="none", weekly=None, stats=True, before=BEFORE, after=AFTER):
    cells = [cell(0, "Bias")]
    cells.append(cell(1, "PDH", mark_color(pdh, before, after)))
    cells.append(cell(2, "PDL", mark_color(pdl, before, after)))
    if weekly is not None:
        cells.append(cell(3, "PWH", mark_color(weekly[0], before, after)))
        cells.append(cell(4, "PWL", mark_color(weekly[1], before, after)))
    if stats:
        heads = ("Success\nRate", "Close Thru\nRate", "Sample\nSize")
        cells += [cell(0, text, column=c) for c, text in enumerate(heads, 1)]
        cells += [cell(1, text, column=c) for c, text in enumerate(("61%", "54%", "214"), 1)]
    return cells


def bias_day(x1, high, low, high_hit=False, low_hit=False, before=BEFORE, after=AFTER):
    return [
        line(x1, high, after if high_hit else before, x2=(x1 or 0) + 78),
        line(x1, low, after if low_hit else before, x2=(x1 or 0) + 78),
    ]


def separator(x):
    return line(x, 5800.0, "#787b86", "dotted", x2=x, y2=5900.0, extend="both")


def bias(
    pdh="none", pdl="none", high_hit=False, low_hit=False, weekly=None, history=True, **colors
):
    """One day's Bias AI: cells, the day's two lines, and what earlier days left behind."""
    lines = bias_day(320, 5890.25, 5861.5, high_hit, low_hit, **colors)
    if history:
        lines += bias_day(242, 5902.0, 5850.75, True, True, **colors)
        lines += bias_day(164, 5879.5, 5866.0, False, True, **colors)
        lines += [separator(320), separator(242)]
    if weekly is not None:
        color = colors.get("before", BEFORE)
        lines += [line(300, 5921.0, color, "dashed"), line(300, 5811.0, color, "dashed")]
    labels = [label(320, 5891.0, "Close Above PDH\nBias PDH")] if history else []
    cells = bias_cells(pdh, pdl, weekly, **colors)
    return study("Bias AI", lines=lines, cells=cells, labels=labels)


# -------------------------------------------------------------------------------- Session Hunt AI


def hunt(
    hi="live",
    lo="live",
    re=None,
    *,
    session=LONDON,
    left=300,
    high=5890.25,
    low=5861.5,
    history=True,
    hi_color=HI,
    lo_color=LO,
    swept_color=SWEPT,
):
    """A hunted session's box and its lines; `re` is (high, low, hi, lo) of a second range."""
    boxes = [] if left is None else [box(left, high, low, session)]
    lines = []
    colors = {"live": hi_color, "swept": swept_color}
    lows = {"live": lo_color, "swept": swept_color}
    start = (left or 0) + 36
    if hi is not None:
        lines.append(line(start, high, colors[hi], alpha="cc"))
    if lo is not None:
        lines.append(line(start, low, lows[lo], alpha="cc"))
    if re is not None:
        lines.append(line(start + 20, re[0], colors[re[2]], alpha="cc"))
        lines.append(line(start + 20, re[1], lows[re[3]], alpha="cc"))
    if history and left is not None:
        boxes += [box(left - 90, 5870.0, 5850.0, ASIA), box(left + 60, 5880.0, 5872.0, NY_AM)]
        boxes.append(box(left - 200, 5840.0, 5820.5, session))
        lines.append(line(left - 160, 5840.0, swept_color, alpha="80"))
        lines.append(line(left - 160, 5820.5, lo_color, alpha="cc"))
    return study("Session Hunt AI", boxes=boxes, lines=lines)


# ------------------------------------------------------------------------------------------ OB AI


def block(x1, high, low, side="bullish", style="solid", midline=False, color=None):
    """An order block: two bounds, perhaps a faint line in the middle."""
    color = color or (BULL if side == "bullish" else BEAR)
    lines = [line(x1, high, color, style, width=3), line(x1, low, color, style, width=3)]
    if midline:
        lines.append(line(x1, (high + low) / 2, color, style, alpha="80"))
    return lines


def gap(left, top, bottom, color="#4caf50"):
    return box(left, top, bottom, None, color)


def ob(*blocks, gaps=(), cells=(), labels=()):
    lines = [each for group in blocks for each in group]
    return study("OB AI", lines=lines, boxes=list(gaps), cells=list(cells), labels=list(labels))


# -------------------------------------------------------------------------------- SMT Divergences


def divergence(x1, y1, x2, y2, ticker="NQ1!", color=BLACK, style=None):
    """A line between two pivots and the label at its middle."""
    pointer = style or ("label_up" if y2 < y1 else "label_down")
    return (
        line(x1, y1, color, x2=x2, y2=y2),
        label((x1 + x2) // 2, (y1 + y2) / 2, f"SMT - {ticker}", pointer),
    )


def smt(*pairs):
    return study(
        "SMT Divergences", lines=[pair[0] for pair in pairs], labels=[pair[1] for pair in pairs]
    )
