"""What the arguments of `ta` functions may be: said in their signatures, checked here.

The annotation of a parameter carries its check, as in `n: Length`. A call whose arguments are as
the function or its kernel takes them goes straight there. Any other is prepared: values are
converted, bars are taken apart, and what is unfit is refused in words.
"""

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike, NDArray

from chartpact import checks
from chartpact.checks import Unfit
from chartpact.ta.kernels import direct_call, kernel
from chartpact.ta.lengths import ABSENT as ABSENT_LENGTH
from chartpact.ta.lengths import LONGEST, compute_by_bar

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

P = ParamSpec("P")
R = TypeVar("R")

FLOAT = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)
LARGEST = 2**31 - 1
EXACT = 2**53  # whole numbers up to here are floats
ABSENT: Any = object()

_differ = kernel("ne")


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


# ------------------------------------------------------------------------------- single arguments


class Check(NamedTuple):
    """What an argument may be.

    `convert` gives the value as the function wants it, or raises Unfit with the rule. An array of
    `dtype`, and a number of these `kinds` from `least` to `most`, needs no conversion. Bars with
    this `column` may stand for the argument. Where they do, this `fact` of theirs is the default
    of an argument, `unless` another one is given.
    """

    convert: Callable[[Any], Any]
    dtype: np.dtype[Any] | None = None
    kinds: tuple[type, ...] = ()
    least: float = 0
    most: float = 0
    column: str | None = None
    per_bar: bool = False  # may be a series, with a number for each bar
    fact: str | None = None
    unless: str | None = None

    def ready(self, name: str, like: str | None, alone: bool) -> str:
        """When an argument needs no conversion, in Python; an array has the shape of `like`."""
        tests = [f"TYPE({name}) is {kind.__name__}" for kind in self.kinds]
        number = f"({' or '.join(tests)}) and {self.least!r} <= {name} <= {self.most!r}"
        if self.dtype is None:
            return number if self.kinds else "False"
        shape = f"{name}.shape == {like}.shape" if like else f"{name}.ndim"
        dtype = "FLOAT" if self.dtype is FLOAT else "BOOL"
        array = f"TYPE({name}) is ndarray and {name}.dtype is {dtype} and {shape}"
        return f"({array} or {number})" if self.kinds and (like or alone) else array


def numbers(value: Any) -> Floats:
    """Numbers of any shape as float64; None is na."""
    if type(value) is ndarray and value.dtype is FLOAT:
        return value
    if hasattr(value, "close") and hasattr(value, "high"):
        raise Unfit("must be one series, such as bars.close")
    try:
        # of a masked array, what is masked is na
        array = np.asarray(
            value.astype(float).filled(np.nan) if hasattr(value, "filled") else value
        )
        if array.dtype.kind == "O":
            if any(isinstance(item, str | bytes) for item in array.flat):
                raise TypeError
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Unfit("must hold numbers only") from None
    if array.dtype.kind not in "fiub":
        raise Unfit("must hold numbers only")
    return array.astype(np.float64, copy=False)


def series(value: Any) -> Floats:
    """Numbers, one a bar along the last axis; None in a list is na."""
    array = numbers(value)
    if not array.ndim:
        raise Unfit("must be a series, one number a bar")
    return array


def condition(value: Any) -> Bools:
    """True or false, one a bar; of numbers, na and what is 0 within Pine's tolerance is false."""
    if type(value) is ndarray and value.dtype is BOOL and value.ndim:
        return value
    return cast(Bools, _differ(series(value), 0.0))


def whole(least: int = -LARGEST, most: int = LARGEST) -> Check:
    """A whole number from `least` to `most`."""
    return Check(partial(_whole, least=least, most=most), None, (int,), least, most)


def _whole(value: Any, least: int, most: int) -> int:
    bound = f" of at least {least}" if least > -LARGEST else ""
    if _is_series(value):
        raise Unfit(f"must be one whole number{bound} for all bars")
    try:
        number = checks.whole(value)
    except Unfit:
        raise Unfit(f"must be a whole number{bound}") from None
    if not least <= number <= most:
        bound = f" of at most {most}" if number > most else bound
        raise Unfit(f"must be a whole number{bound}")
    return number


def _is_series(value: Any) -> bool:
    return not isinstance(value, str | bytes) and hasattr(value, "__len__") and np.ndim(value) > 0


def lengths(least: int = 1, na: bool = False) -> Check:
    """A whole number of at least `least`, or a series of them; with `na`, an na is among them."""
    convert = partial(_lengths, least=least, na=na)
    return Check(convert, None, (int,), least, LARGEST, per_bar=True)


def _lengths(value: Any, least: int, na: bool) -> int | Ints:
    if not _is_series(value):
        return _whole(value, least, LARGEST)
    array = series(value)
    absent = np.isnan(array) & na
    if not (absent | ((array >= least) & (array <= LONGEST) & (array == np.floor(array)))).all():
        raise Unfit(f"must hold whole numbers from {least} to {LONGEST} only")
    return np.where(absent, ABSENT_LENGTH, array).astype(np.int64)


def number(least: float = -checks.LARGEST, most: float = checks.LARGEST, rule: str = "") -> Check:
    """A finite number; `rule` says which ones are within bounds."""
    convert = partial(_number, least=least, most=most, rule=rule)
    return Check(convert, None, (float, int), least, most)


def _number(value: Any, least: float, most: float, rule: str) -> float:
    try:
        real = float(checks.number(value))
    except Unfit:
        raise Unfit("must be a finite number") from None
    if not least <= real <= most:
        raise Unfit(rule)
    return real


def _flag(value: Any) -> bool:
    try:
        return checks.flag(value)
    except Unfit:
        raise Unfit("must be True or False") from None


def _out(value: Any) -> Any:
    """Checked once the shape of the result is known."""
    return value


NUMBERS = Check(numbers, FLOAT, (float,), -checks.LARGEST, checks.LARGEST)
Numbers = Annotated[ArrayLike, NUMBERS]  # a series or a number
# The same where a series comes before: an int beside an array of floats is taken for a float.
Operand = Annotated[ArrayLike, NUMBERS._replace(kinds=(float, int), least=-EXACT, most=EXACT)]
Series = Annotated[ArrayLike, Check(series, FLOAT)]
Condition = Annotated[ArrayLike, Check(condition, BOOL)]
Length = Annotated[int, whole(1)]  # a number of bars, the same on all
Lengths = Annotated[int | ArrayLike, lengths()]  # the same, or one number for each bar
Factor = Annotated[float, number()]
Flag = Annotated[bool, Check(_flag, None, (bool,), False, True)]
Out = Annotated[Floats | None, Check(_out, FLOAT)]
OutBools = Annotated[Bools | None, Check(_out, BOOL)]
# Bars may stand for arguments of these kinds.
Open = Annotated[Floats, Check(series, FLOAT, column="open")]
High = Annotated[Floats, Check(series, FLOAT, column="high")]
Low = Annotated[Floats, Check(series, FLOAT, column="low")]
Close = Annotated[Floats, Check(series, FLOAT, column="close")]
Volume = Annotated[Floats, Check(series, FLOAT, column="volume")]


# --------------------------------------------------------------------------------- whole calls


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with its arguments checked as its signature says."""
    return cast(Callable[P, R], Arguments(function, bars=False).enter)


def takes_bars(function: Callable[..., R]) -> Callable[..., R]:
    """Like `checked`, but an object with OHLCV columns may replace the price arguments."""
    return cast(Callable[..., R], Arguments(function, bars=True).enter)


def by_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function that the kernel of its name computes; it has no body of its own."""
    function.kernel = kernel(function.__name__)  # type: ignore[attr-defined]
    return function


def by_kernel_if_ready(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function that the kernel of its name computes where no argument must be converted.

    Arguments that are None by default are no inputs of the kernel, and must be None.
    """
    function.tries_kernel = True  # type: ignore[attr-defined]
    return function


def series_by(compute: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Marks a function whose calls with ready series, not single numbers, go to `compute`."""

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        function.compute_series = compute  # type: ignore[attr-defined]
        return function

    return mark


def checks_of(function: Callable[..., Any]) -> dict[str, Check]:
    """The check of each parameter of a checked function."""
    arguments: Arguments = function.arguments  # type: ignore[attr-defined]
    return arguments.checks


def argument(function: str, name: str, convert: Callable[[Any], R], value: object) -> R:
    """The value of an argument as a function wants it, or an error that names both."""
    try:
        return convert(value)
    except Unfit as unfit:
        raise TaError(function, name, value, str(unfit)) from None


def fit(function: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuses series of different lengths, and batches that do not fit each other."""
    lead: tuple[int, ...] = ()
    names = list(arrays)
    for place, (name, array) in enumerate(arrays.items()):
        bars = arrays[names[0]].shape[-1]
        if array.shape[-1] != bars:
            rule = f"must be as long as {names[0]} ({bars} values)"
            raise TaError(function, name, array, rule)
        if array.ndim == 1:  # fits all
            continue
        try:
            lead = np.broadcast_shapes(lead, array.shape[:-1])
        except ValueError:
            rule = f"must have the leading axes of {' and '.join(names[:place])} {lead}"
            raise TaError(function, name, array, rule) from None


class Arguments:
    """The parameters of one function, and how the arguments of a call are checked."""

    def __init__(self, function: Callable[..., Any], bars: bool) -> None:
        bare: Any = getattr(function, "__wrapped__", function)
        names = bare.__code__.co_varnames[: bare.__code__.co_argcount]
        hints = bare.__annotations__
        defaults = bare.__defaults__ or ()
        self.function = function
        self.compute: Callable[..., Any] = getattr(function, "kernel", function)
        self.name: str = bare.__name__
        self.checks: dict[str, Check] = {name: hints[name].__metadata__[0] for name in names}
        self.defaults = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        # Whoever reads the signature finds plain types.
        bare.__annotations__ = hints | {name: hints[name].__origin__ for name in names}
        columns = [check.column for check in self.checks.values()]
        self.columns = [column for column in columns if column is not None]
        self.first = columns.index(self.columns[0]) if bars else None
        form = tuple((name, self.checks[name], self.defaults.get(name, ABSENT)) for name in names)
        has_kernel = hasattr(function, "kernel") or hasattr(function, "tries_kernel")
        direct = self._direct_call() if has_kernel else None
        by_series = getattr(function, "compute_series", None)
        alone = len(form) == 1 and not by_series  # a function of one number
        write = _entrance(form, bars, direct is not None, alone)
        compute = direct or by_series or self.compute
        self.enter = wraps(function)(write(compute, self.call))
        self.enter.arguments = self  # type: ignore[attr-defined]

    def _direct_call(self) -> Callable[..., Any] | None:
        inputs = [
            check
            for name, check in self.checks.items()
            if self.defaults.get(name, ABSENT) is not None
        ]
        least, most = zip(*((check.least, check.most) for check in inputs), strict=True)
        return direct_call(self.name, least, most)

    def call(self, *given: Any) -> Any:
        """Calls the function with arguments that may have to be converted."""
        if self.first is not None:
            row, named = self._bound(given)
            bars = given[self.first]
            if type(bars) is not ndarray and all(hasattr(bars, name) for name in self.columns):
                columns = [getattr(bars, name) for name in self.columns]
                row = (*row[: self.first], *columns, *row[self.first + 1 :])
                return self.enter(*row, **(self._facts(bars, row, named) | named))
            bound = self.defaults | dict(zip(self.checks, row, strict=False)) | named
            if len(bound) < len(given):
                self.function(*row, **named)  # raises what Python says of such a call
            given = tuple(bound[name] for name in self.checks)
        values = [
            value
            if value is None and self.defaults.get(name, ABSENT) is None
            else argument(self.name, name, check.convert, value)
            for (name, check), value in zip(self.checks.items(), given, strict=True)
        ]
        out = values.pop() if "out" in self.checks else None
        shapes = {value.shape for value in values if type(value) is ndarray and value.ndim}
        if len(shapes) > 1:
            arrays = zip(self.checks, values, strict=False)
            fit(
                self.name,
                {name: value for name, value in arrays if type(value) is ndarray and value.ndim},
            )
        checks = self.checks.values()
        pairs = enumerate(zip(checks, values, strict=False))
        places = [k for k, (check, v) in pairs if check.per_bar and type(v) is ndarray]
        if out is not None:
            self._fit_out(out, np.broadcast_shapes(*shapes))
        if places and 0 in np.broadcast_shapes(*shapes):  # nothing to compute
            values = [1 if k in places else value for k, value in enumerate(values)]
        elif places:
            result = compute_by_bar(self.name, values, places)
            if out is None:
                return result
            out[...] = result
            return out
        if out is None:
            return self.compute(*values)
        return self.compute(*values, out=out)

    def _facts(self, bars: Any, row: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """What bars say of arguments that a call leaves out."""
        given = {*[*self.checks][: len(row)], *named}
        return {
            name: getattr(bars, check.fact)
            for name, check in self.checks.items()
            if check.fact and hasattr(bars, check.fact) and given.isdisjoint((name, check.unless))
        }

    def _bound(self, given: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call in a row, and the named ones: those behind an absent one."""
        count = 0
        while count < len(given) and given[count] is not ABSENT:
            count += 1
        behind = zip([*self.checks][count:], given[count:], strict=True)
        return given[:count], {name: value for name, value in behind if value is not ABSENT}

    def _fit_out(self, out: object, shape: tuple[int, ...]) -> None:
        """Refuses to write a result where it has no room."""
        dtype = self.checks["out"].dtype
        if not isinstance(out, ndarray) or out.dtype != dtype or out.shape != shape:
            raise TaError(self.name, "out", out, f"must be a {dtype} array of shape {shape}")
        if not out.flags.writeable:
            raise TaError(self.name, "out", out, "must be writeable")


@cache
def _entrance(
    form: tuple[tuple[str, Check, Any], ...], bars: bool, direct: bool, alone: bool
) -> Callable[..., Any]:
    """Writes the function that a call enters, for one list of parameters.

    It calls `compute` at once where no argument needs conversion, and else `call`. A direct call of
    a kernel finds that out by itself, and answers None. It is written as text, as dataclasses are,
    because a loop over the arguments takes as long as a kernel takes for a hundred bars. Where bars
    may stand for several arguments, any argument may be absent.
    """
    parameters, conditions, inputs, like = [], [], [], None
    for name, check, default in form:
        given = f"={default!r}" if default is not ABSENT else ""
        parameters.append(f"{name}=ABSENT" if bars else name + given)
        is_input = name != "out" and not (direct and default is None)
        ready = check.ready(name, like, alone) if is_input else f"{name} is None"
        if default is None and is_input:
            ready = f"({name} is None or {ready})"
        if bars and given:
            ready = f"({name} is ABSENT or {ready})"
        if not (direct and is_input):
            conditions.append(ready)
        if is_input:
            inputs.append(
                f"{default!r} if {name} is ABSENT else {name}" if bars and given else name
            )
        like = like or name
    computed = f"compute({', '.join(inputs)})"
    if direct:
        conditions.append(f"(result := {computed}) is not None")
    text = f"""lambda compute, call: lambda {", ".join(parameters)}: (
        {"result" if direct else computed} if {" and ".join(conditions)}
        else call({", ".join(name for name, _, _ in form)}))"""
    write: Callable[..., Any] = eval(text, {"ndarray": ndarray, "ABSENT": ABSENT, **_DTYPES})
    return write


_DTYPES = {"FLOAT": FLOAT, "BOOL": BOOL, "TYPE": type}  # a parameter may be called `type`
