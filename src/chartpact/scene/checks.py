"""One value of a field, checked and made canonical: numbers, texts, colours, sizes."""

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from chartpact import palette
from chartpact.scene.rule import SceneError
from chartpact.textcolumn import TextColumn

LARGEST = sys.float_info.max  # a whole number may be larger, but cannot be drawn


def whole(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
        return int(value)
    raise SceneError(f"{value!r} is not a whole number")


def number(value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = value.item() if isinstance(value, np.generic) else value
        if abs(number) <= LARGEST:
            return number
    raise SceneError(f"{value!r:.60} is not a finite number")


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise SceneError(f"{value!r} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SceneError("a text holds half of a surrogate pair") from None
    return value


def flag(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise SceneError(f"{value!r} is not True or False")


_colors: dict[str, str] = {}  # those seen so far in their canonical spelling


def color(value: Any) -> str:
    if isinstance(value, str) and value in _colors:
        return _colors[value]
    try:
        canonical = palette.color(value)
    except ValueError as error:
        raise SceneError(str(error)) from None
    if len(_colors) < 4096:
        _colors[value] = canonical
    return canonical


def paint(value: Any) -> str | TextColumn:
    if isinstance(value, str):
        return palette.AUTO if value == palette.AUTO else color(value)
    if not isinstance(value, Sequence):
        raise SceneError(f"{value!r} is neither a colour nor a list of colours")
    try:
        colors = TextColumn.encode(value)
    except TypeError:
        raise SceneError(f"{value!r:.60} is no list of colours") from None
    return colors.map(lambda each: None if each is None else color(each))


def size(value: Any) -> str | int:
    if isinstance(value, str) and value in palette.TEXT_SIZES:
        return value
    if not isinstance(value, str) and (points := whole(value)) > 0:
        return points
    raise SceneError(
        f"{value!r} is not a size: use {', '.join(palette.TEXT_SIZES)} or a whole number of points"
    )
