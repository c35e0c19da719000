"""Checks what a `ta` function is given, quickly where it is right and in words where it is not."""

from collections.abc import Callable
from functools import wraps
from operator import index
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

P = ParamSpec("P")
R = TypeVar("R")

FLOAT = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)
LARGEST = 2**31 - 1


class TaError(ValueError):
    """An argument a `ta` function cannot use: which function, which argument, which value."""

    def __init__(self, function: str, argument: str, value: object, rule: str) -> None:
        super().__init__(function, argument, value, rule)
        self.function = function
        self.argument = argument
        self.value = value
        self.rule = rule

    def __str__(self) -> str:
        return f"ta.{self.function}: {self.argument} {self.rule}, not {_shown(self.value)}"


def _shown(value: object) -> str:
    if isinstance(value, ndarray):
        if value.ndim == 1:
            return f"a series of {len(value)} values ({value.dtype})"
        return f"an array of shape {value.shape} ({value.dtype})"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def length(function: str, argument: str, value: int) -> int:
    """A number of bars: a whole number of at least 1."""
    return whole(function, argument, value, 1)


def whole(
    function: str, argument: str, value: int, least: int = -LARGEST, most: int = LARGEST
) -> int:
    """A whole number from `least` to `most`."""
    if type(value) is int and least <= value <= most:
        return value
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool | np.bool_) or not least <= number <= most:
        bound = f" of at least {least}" if least > -LARGEST else ""
        bound = f" of at most {most}" if number > most else bound
        raise TaError(function, argument, value, f"must be a whole number{bound}")
    return number


def number(function: str, argument: str, value: float) -> float:
    """A finite number."""
    if type(value) is float and -np.inf < value < np.inf:
        return value
    plain = isinstance(value, int | float | np.floating | np.integer)
    try:
        real = float(value) if plain and not isinstance(value, bool) else np.nan
    except OverflowError:  # a whole number beyond all floats
        real = np.inf
    if not -np.inf < real < np.inf:
        raise TaError(function, argument, value, "must be a finite number")
    return real


def flag(function: str, argument: str, value: bool) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TaError(function, argument, value, "must be True or False")
    return bool(value)


def series(function: str, argument: str, value: ArrayLike) -> Floats:
    """Numbers, one a bar along the last axis; None in a list is na."""
    if type(value) is ndarray and value.dtype is FLOAT and value.ndim:
        return value
    array = numbers(function, argument, value)
    if not array.ndim:
        raise TaError(function, argument, value, "must be a series, one number a bar")
    return array


def numbers(function: str, argument: str, value: Any) -> Floats:
    """Numbers of any shape as float64; None is na."""
    if type(value) is ndarray and value.dtype is FLOAT:
        return value
    if hasattr(value, "close") and hasattr(value, "high"):
        raise TaError(function, argument, value, "must be one series, such as bars.close")
    try:
        # of a masked array, what is masked is na
        array = np.asarray(
            value.astype(float).filled(np.nan) if hasattr(value, "filled") else value
        )
        if array.dtype.kind == "O":
            if any(isinstance(each, str | bytes) for each in array.flat):
                raise TypeError
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TaError(function, argument, value, "must hold numbers only") from None
    if array.dtype.kind not in "fiub":
        raise TaError(function, argument, value, "must hold numbers only")
    return array.astype(np.float64, copy=False)


def together(function: str, names: tuple[str, ...], *values: Any) -> tuple[Floats, ...]:
    """Series that belong together: one length, and leading axes that fit each other."""
    shape = values[0].shape if type(values[0]) is ndarray else ()
    for value in values:
        if type(value) is not ndarray or value.dtype is not FLOAT or value.shape != shape:
            break
    else:
        if shape:
            return values
    found = tuple(series(function, n, v) for n, v in zip(names, values, strict=True))
    fitting(function, names, *found)
    return found


def fitting(function: str, names: tuple[str, ...], *found: NDArray[Any]) -> None:
    """Refuses series of different lengths, and batches that do not fit each other."""
    lead: tuple[int, ...] = ()
    for place, (name, each) in enumerate(zip(names, found, strict=True)):
        if each.shape[-1] != found[0].shape[-1]:
            rule = f"must be as long as {names[0]} ({found[0].shape[-1]} values)"
            raise TaError(function, name, each, rule)
        if each.ndim == 1:  # fits all
            continue
        try:
            lead = np.broadcast_shapes(lead, each.shape[:-1])
        except ValueError:
            before = " and ".join(names[:place])
            rule = f"must have the leading axes of {before} {lead}"
            raise TaError(function, name, each, rule) from None


def condition(function: str, argument: str, value: ArrayLike) -> Bools:
    """True or false, one a bar; of numbers, what is neither 0 nor na is true."""
    if type(value) is ndarray and value.dtype is BOOL and value.ndim:
        return value
    array = series(function, argument, value)
    return np.not_equal(array, 0) & ~np.isnan(array)


def target(function: str, out: object, *like: NDArray[Any], dtype: np.dtype[Any] = FLOAT) -> Any:
    """Where a result is to be written: an array of the result's shape and type."""
    shape = np.broadcast_shapes(*(each.shape for each in like))
    if not isinstance(out, ndarray) or out.dtype != dtype or out.shape != shape:
        raise TaError(function, "out", out, f"must be a {dtype} array of shape {shape}")
    if not out.flags.writeable:
        raise TaError(function, "out", out, "must be writeable")
    return out


def rolling(kernel: Callable[..., R], function: str, source: ArrayLike, n: int, out: Any) -> R:
    """The result of a kernel that takes one series and one length."""
    x = series(function, "source", source)
    if out is None:
        return kernel(x, length(function, "n", n))
    return kernel(x, length(function, "n", n), out=target(function, out, x))


def prices(*names: str, at: int = 0) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """Lets bars, or anything with these columns, stand for the price arguments that start `at`."""

    def decorate(function: Callable[P, R]) -> Callable[..., R]:
        @wraps(function)
        def spread(*arguments: Any, **options: Any) -> R:
            if len(arguments) > at and type(arguments[at]) is not ndarray:
                columns = [getattr(arguments[at], name, None) for name in names]
                if all(column is not None for column in columns):
                    arguments = (*arguments[:at], *columns, *arguments[at + 1 :])
            return function(*arguments, **options)

        return spread

    return decorate
