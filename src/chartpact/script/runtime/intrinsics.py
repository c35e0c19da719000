"""The functions that compiled code calls besides operators and builtins: loops, calls, displays."""

import math
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.limits import CALL_DEPTH
from chartpact.script.runtime.builtins import Builtins, larger, largest, smaller, smallest
from chartpact.script.runtime.formatting import fill_in, join_parts
from chartpact.script.runtime.hashing import seal
from chartpact.script.runtime.meter import SPAN, TWELFTHS, Meter
from chartpact.script.runtime.methods import Methods
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import (
    DICTS,
    Dict,
    List,
    Method,
    a_type,
    freeze,
    is_script_function,
)

_SHORT = 1 << 40
_CALLABLE = frozenset((FunctionType, MethodType, Method))
_OPERATORS = (
    "add sub mul div floordiv mod neg pos bitand bitor xor invert lshift rshift eq ne lt le gt ge "
    "contains not_contains key index from_end slice store iadd ior unpack"
).split()
_OWN = (
    "apply call close_dict close_list enter enter_enumerate enter_inner enter_zip fill_in "
    "fill_in_percent freeze items join_parts make_dict search span spread spread_named"
).split()
# Functions of `math` that compiled code calls itself, where they surely give a finite number.
QUICK: Mapping[str, Callable[..., float]] = {
    "exp": math.exp,
    "log": math.log,
    "pow": math.pow,
    "sqrt": math.sqrt,
}


class Runtime:
    """The names that compiled code finds, for one run and over one meter."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.operators = Operators(meter)
        self.methods = Methods(self.operators)
        self.builtins = Builtins(self.operators, self.call)
        self._weights: dict[Any, int] = {}
        self._active: list[Any] = []

    def names(self) -> dict[str, Any]:
        """The global names of a script before its first line."""
        return {
            "__builtins__": {},
            **self.builtins.names(),
            **{f"_{name}": getattr(self.operators, name) for name in _OPERATORS},
            **{f"_{name}": getattr(self, name) for name in _OWN},
            "_charge": self.meter.charge,
            "_leave": self.meter.leave,
            "_attribute": self.methods.attribute,
            "_List": List,
            "_Dict": Dict,
            "_seal": seal,
            "_len": len,
            "_min": smallest,
            "_max": largest,
            "_smaller": smaller,
            "_larger": larger,
            "_abs": abs,
            **{f"_quick_{name}": function for name, function in QUICK.items()},
            "_type": type,
            "_float": float,
            "_int": int,
            "_tuple": tuple,
        }

    def load(self, code: Any, weights: Mapping[str, int], names: dict[str, Any]) -> None:
        """Executes the module: its functions become callable, its values unchangeable."""
        self.meter.charge(weights[""])
        before = dict(names)
        self._weights = _WeightsByName(weights)
        exec(code, names)
        self._weights = {}
        for name, value in names.items():
            if name in before and before[name] is value:
                continue  # the host's, and not a script's own under a builtin's name
            if name in weights and is_script_function(value):
                self._weights[value] = weights[name]
            self.freeze(value)

    def freeze(self, value: Any) -> Any:
        """What is assigned at the top level: no line after it can change it."""
        self.meter.charge(2 * freeze(value))
        return value

    def call(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        """A call of what may be any value."""
        if type(function) not in _CALLABLE:
            number = type(function) in (int, float)
            hint = "a * is missing between number and bracket" if number else ""
            raise Fault("type", f"{a_type(function)} cannot be called", hint)
        if not is_script_function(function):
            self.meter.charge(5)
            return function(*arguments, **named)
        self.meter.charge(20 + self._weights.get(function, 0))
        if any(active is function for active in self._active):
            raise Fault("forbidden", "a function cannot call itself", "write a loop instead")
        if len(self._active) >= CALL_DEPTH:
            raise Fault("forbidden", f"calls are nested more than {CALL_DEPTH} deep")
        self._active.append(function)
        result = function(*arguments, **named)
        self._active.pop()
        return result

    @staticmethod
    def apply(
        function: Any, first: Any, named: Any, spread: Any, rest: Mapping[str, Any] | None = None
    ) -> Any:
        """A call with named values and *values, evaluated in the order of the source."""
        return function(*first, *spread, **named, **(rest or {}))

    def spread(self, values: Any) -> list[Any]:
        """`f(*values)`."""
        sequence, length, _ = self.operators.sequence(values)
        self.meter.charge(20 + length)
        return list(sequence)

    def spread_named(self, values: Any) -> dict[str, Any]:
        """`f(**values)`."""
        if type(values) not in DICTS or any(type(key) is not str for key in values):
            raise Fault("type", "** takes a dict whose keys are strings")
        self.meter.charge(20 + 16 * len(values))
        return dict(values)

    def enter(self, weight: int, values: Any) -> Iterator[Any]:
        """The turns of a loop that runs to its end."""
        sequence, length, lock = self.operators.sequence(values)
        return self.meter.enter(sequence, length, weight, lock)

    def search(self, weight: int, values: Any) -> Iterator[Any]:
        """The turns of a loop that may end early."""
        sequence, length, lock = self.operators.sequence(values)
        return self.meter.search(sequence, length, weight, lock)

    def span(self, weight: int, /, *bounds: Any) -> range:
        """The turns of `for i in range(…)`."""
        if len(bounds) == 1 and type(bounds[0]) is int and bounds[0] < _SHORT:
            turns = range(bounds[0])
        elif (
            len(bounds) == 2
            and type(bounds[0]) is type(bounds[1]) is int
            and (-_SHORT < bounds[0] < _SHORT and -_SHORT < bounds[1] < _SHORT)
        ):
            self.meter.charge(4)
            turns = range(*bounds)
        else:
            turns = self.builtins.span(*bounds)
        self.meter.charge_loop(SPAN + len(turns) * weight // TWELFTHS)
        return turns

    def enter_enumerate(self, weight: int, values: Any) -> Iterator[tuple[int, Any]]:
        return enumerate(self.enter(weight + 1, values))

    def enter_zip(self, weight: int, /, *columns: Any) -> Iterator[Any]:
        self.meter.charge(10 + 12 * len(columns))
        sequences, lengths, locks = zip(*map(self.operators.sequence, columns), strict=True)
        self.meter.enter((), min(lengths), weight + 2 + 2 * len(columns), *locks)
        return zip(*sequences, strict=False)

    def enter_inner(self, weight: int, values: Any) -> Iterator[Any]:
        """The turns of an inner `for` of a comprehension."""
        self.meter.charge(10)
        yield from self.enter(weight, values)
        self.meter.leave()

    def close_list(self, values: list[Any]) -> List:
        """The list of a comprehension, whose outermost loop ends here."""
        self.meter.leave()
        return List(values)

    def close_dict(self, values: dict[Any, Any]) -> Dict:
        self.meter.leave()
        return Dict(values)

    @staticmethod
    def items(values: Any) -> Any:
        """What `values[i]` reads in a loop."""
        return values.items() if type(values) is Series else values

    def make_dict(self, pairs: tuple[tuple[Any, Any], ...]) -> Dict:
        made = Dict(pairs)
        if len(made) < len(pairs):
            raise Fault("value", "a key stands twice in this dict")
        return made

    def join_parts(self, parts: tuple[Any, ...]) -> str:
        return join_parts(parts, self.meter)

    def fill_in(self, texts: tuple[str, ...], letters: str, *values: Any) -> str:
        """`"{} of {}".format(…)` with as many values as fields."""
        return fill_in(texts, letters, values, self.meter)

    def fill_in_percent(
        self, texts: tuple[str, ...], letters: str, template: str, values: Any
    ) -> Any:
        """`"%s is %d" % values`."""
        listed = values if type(values) is tuple else (values,)
        if len(listed) != len(letters):
            return self.operators.mod(template, values)  # which tells how many it takes
        return fill_in(texts, letters, listed, self.meter)


class _WeightsByName(dict[Any, int]):
    """The weights of functions while the module is loading, when they are known by name alone."""

    def __init__(self, weights: Mapping[str, int]) -> None:
        super().__init__()
        self._by_name = weights

    def get(self, function: Any, default: Any = 0) -> int:
        return self._by_name.get(getattr(function, "__name__", ""), default)
