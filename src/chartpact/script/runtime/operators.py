"""All operators of the language for one run: arithmetic, comparison, and the elements of values."""

from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.runtime.arithmetic import MERGE, Arithmetic, mismatch_hint
from chartpact.script.runtime.comparison import SHORT_KEY, Comparison
from chartpact.script.runtime.series import Series, TextSeries
from chartpact.script.runtime.values import DICTS, LISTS, Dict, HostObject, List, a_type

_UNPACKED = frozenset((*LISTS, *DICTS, tuple, range, Series))


class Operators(Arithmetic, Comparison):
    """The operators of one run, charged to its meter."""

    def index(self, holder: Any, at: Any) -> Any:
        kind = type(holder)
        if kind in DICTS:
            return holder[at if type(at) is str and len(at) <= SHORT_KEY else self.key(at)]
        if kind in LISTS or kind in (tuple, str, range, Series, TextSeries):
            if type(at) is not int:
                raise Fault("type", f"an index is an int, not {a_type(at)}")
            return holder[at]
        raise Fault("type", f"{a_type(holder)} has no elements")

    def from_end(self, holder: Any, at: int) -> Any:
        """`holder[-1]`, a literal, which counts from the end of a series too."""
        if type(holder) is Series or type(holder) is TextSeries:
            return holder.items()[at]
        return self.index(holder, at)

    def slice(self, holder: Any, low: Any, high: Any, step: Any) -> Any:
        for bound in (low, high, step):
            if bound is not None and type(bound) is not int:
                raise Fault("type", f"a slice goes from an int to an int, not {a_type(bound)}")
        if step == 0:
            raise Fault("value", "a slice cannot have a step of 0")
        part, kind = slice(low, high, step), type(holder)
        if kind is range:
            return holder[part]
        if kind in LISTS or kind in (tuple, str, Series):
            length = len(range(*part.indices(len(holder))))
            self._charge(16)
            self._grow(length, 6 if kind in LISTS or kind is tuple else 16)
            if kind is Series:
                return holder.sliced(part)
            return List(list.__getitem__(holder, part)) if kind in LISTS else holder[part]
        raise Fault("type", f"{a_type(holder)} cannot be sliced")

    def store(self, value: Any, holder: Any, at: Any) -> None:
        """`holder[at] = value`, whose parts are evaluated in this order."""
        kind = type(holder)
        if kind in DICTS:
            holder[self.key(at)] = value
        elif kind in LISTS:
            if type(at) is not int:
                raise Fault("type", f"an index is an int, not {a_type(at)}")
            holder[at] = value
        else:
            hint = "make a list of it: list(x)" if kind is tuple else ""
            if kind is Series:
                hint = "build a list and give it to chart or ta: it stands for a series"
            raise Fault("type", f"{a_type(holder)} cannot be changed", hint)

    def iadd(self, a: Any, b: Any) -> Any:
        """`a += b`: a list is extended in place."""
        if type(a) in LISTS and type(b) is not Series:
            values, length, _ = self.sequence(b)
            self.extend_list(len(a), length)
            a.extend(list(values))
            return a
        return self.add(a, b)

    def ior(self, a: Any, b: Any) -> Any:
        """`a |= b`: a dict is updated in place."""
        if type(a) in DICTS and type(b) in DICTS:
            self._charge(10 + MERGE * len(b))
            a.update(b)
            return a
        return self.bitor(a, b)

    def sequence(self, value: Any) -> tuple[Any, int, Any]:
        """What a loop over the value iterates: a sliceable sequence, its length, what it locks."""
        kind = type(value)
        if kind in LISTS:
            return value, len(value), value
        if kind is tuple or kind is range:
            return value, len(value), None
        if kind in DICTS:
            self._charge(10 + len(value) // 3)
            return list(value), len(value), value
        if kind is Series or kind is TextSeries:
            return value.items(), len(value), None
        hint = "take its characters with s.elems()" if kind is str else ""
        if kind is int:
            hint = "to count, write range(n)"
        if isinstance(value, HostObject):
            hint = "loop over range(len(ohlcv)), or over one of its series"
        raise Fault("type", f"{a_type(value)} cannot be iterated", hint)

    def unpack(self, value: Any, count: int) -> Any:
        """A sequence of exactly `count` values, for `a, b = value`."""
        if type(value) is tuple and len(value) == count:
            return value
        self._charge(8)
        if type(value) not in _UNPACKED:
            hint = mismatch_hint(value, value) if value is None else ""
            if type(value) is str:
                hint = "of a dict go through d.items(); characters are s.elems()"
            message = f"{count} names take {count} values, and this is {a_type(value)}"
            raise Fault("type", message, hint)
        values, length, _ = self.sequence(value)
        if length != count:
            hint = "this is one series: give it one name" if type(value) is Series else ""
            raise Fault("value", f"{count} names take {count} values, and here are {length}", hint)
        return values

    def pairs(self, sources: tuple[Any, ...], named: dict[str, Any]) -> Dict:
        """The dict of `dict(pairs, **named)` and `d.update(pairs, **named)`."""
        if len(sources) > 1:
            raise Fault("type", f"one dict or list of pairs is enough, not {len(sources)}")
        made = Dict()
        for source in sources:
            if type(source) in DICTS:
                self._charge(10 + MERGE * len(source))
                made.update(source)
                continue
            values, length, _ = self.sequence(source)
            self._charge(12 + 8 * length)
            for pair in values:
                key, value = self.unpack(pair, 2)
                made[self.key(key)] = value
        self._charge(10 + MERGE * len(named))
        made.update(named)
        return made
