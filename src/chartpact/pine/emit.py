"""From a program to the text of a script.

The statements are scheduled (see `schedule`), then written stage by stage: what is known before the
bars, series, loops, and what is drawn. In a loop a variable has its value of the bar; where later
stages or earlier bars of it are read, a list keeps its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import partial
from typing import Any

from chartpact.pine import schedule
from chartpact.pine import vocabulary as words
from chartpact.pine.calls import _literal
from chartpact.pine.errors import PineError
from chartpact.pine.forms import ATOM, CHOICE, OR, Forms, can_be_series, quote
from chartpact.pine.helpers import BY_BAR, HELPER_CALL, HELPERS, needs
from chartpact.pine.program import (
    DRAWN,
    NUMBERS,
    SCALARS,
    EachStep,
    Effect,
    FlatProgram,
    FlatStep,
    ForStep,
    IfStep,
    JumpStep,
    Output,
    Set,
    SetField,
    TypedValue,
    Unpack,
    Var,
    WhileStep,
)
from chartpact.pine.report import Report
from chartpact.pine.schedule import LOOP, PLAIN, SERIES, Unit

_PRICE = re.compile(r"(?<![\w.\"])(" + "|".join(words.PRICES) + r")\b(?!\s*=[^=]|\")")
_FIELDS_OF_BARS = frozenset(words.PRICES)


class Writer:
    """Writes the statements of one function: `compute`, or one for higher bars."""

    def __init__(self, steps: list[FlatStep], report: Report, outer: Writer | None = None) -> None:
        self.steps, self.report, self.outer = steps, report, outer
        self.root: Writer = outer.root if outer else self
        self.forms = Forms(self)
        self.lines: list[str] = []
        self.places: list[int] = []  # of each line in Pine's source
        self.indent = 1
        self.mode_of: dict[Var, str] = {}
        self.stage_of: dict[Var, int] = {}
        self.stage = -1
        self.mode = "plain"
        self.recorded: set[Var] = set()
        self.before: dict[Var, int] = {}
        self.listed: set[Var] = set()
        self.prices: set[str] = set()
        self.helpers: set[str] = outer.helpers if outer else set()
        self.tests: list[tuple[TypedValue, bool]] = []
        self.counter: list[int] = outer.counter if outer else [0]
        self.states: list[str] = []
        self.writers: dict[Var, list[FlatStep]] = {}
        self.reported: set[int] = set()
        self.setup: list[str] = []
        self.local_history: dict[Var, int] | None = None
        self.forced: set[Var] = outer.forced if outer else set()  # stay in a loop
        self.temporary: set[Var] = outer.temporary if outer else set()  # made by hoisting
        self.whole: list[FlatStep] = outer.whole if outer else [_copy(step) for step in steps]

    # Use

    def use_prices(self, form: str) -> None:
        for name in _PRICE.findall(form):
            self.prices.add(name)
        if re.search(r"\bzone\b", form):
            self.prices.add("zone")

    def use_helpers(self, form: str) -> None:
        for name in HELPER_CALL.findall(form):
            self._use(name)

    def _use(self, name: str) -> None:
        if name not in self.helpers:
            self.helpers.add(name)
            for other in needs(name):
                self._use(other)

    def parameter(self, name: str) -> str:
        return name

    def fresh(self, name: str, kind: str) -> Var:
        self.counter[0] += 1
        return Var(f"{name}_{self.counter[0]}", kind)

    @contextmanager
    def under(self, test: TypedValue, holds: bool = True) -> Iterator[None]:
        self.tests.append((test, holds))
        try:
            yield
        finally:
            self.tests.pop()

    # Scheduling

    def run(self, results: list[TypedValue] | None = None) -> None:
        steps = self._prepare(self.steps)
        for _ in range(60):
            self.writers = _writers(steps)
            units = [self._unit(step) for step in steps]
            for unit, step in zip(units, steps, strict=True):
                unit.mode = self._mode(step)
            while schedule.settle(units, partial(self._straight_among, steps)):
                pass
            hoisted = self._hoist_all(steps, units)
            if hoisted is None:
                break
            steps = hoisted
        else:
            raise PineError("the statements could not be put in order")
        stages = schedule.lay(units)
        self._remember(steps, units, stages, results or [])
        for number, members in enumerate(stages, -1):
            if members:
                self._write_stage(number, [steps[m] for m in members])
        self.stage, self.mode = len(stages) + 2, "series"

    def _prepare(self, steps: list[FlatStep]) -> list[FlatStep]:
        return steps

    def _unit(self, step: FlatStep) -> Unit:
        reads: set[object] = set()
        earlier: set[object] = set()
        touches: set[object] = set()
        writes = {v for v in _written(step) if v.top}
        for value in _values(step):
            self._reads(value, reads, earlier, touches)
        for inner in step.walk():
            if isinstance(inner, Set | Unpack):
                for var in [inner.var] if isinstance(inner, Set) else inner.targets:
                    if (
                        var.top
                        and var.kind not in SCALARS
                        and not var.simple
                        and var.kind not in ("plot", "hline")
                    ):
                        touches.add(var)
        if isinstance(step, Output):
            touches.clear()
        return Unit(
            frozenset(writes), frozenset(reads), frozenset(earlier - reads), frozenset(touches)
        )

    def _reads(
        self, value: TypedValue, reads: set[object], earlier: set[object], touches: set[object]
    ) -> None:
        if value.op == "hist" and value.args[0].op == "var" and not self._may_be_now(value.args[1]):
            var = value.args[0].data
            if var.top:
                earlier.add(var)
                if var.kind not in SCALARS:
                    touches.add(var)
            self._reads(value.args[1], reads, earlier, touches)
            return
        if value.op == "var" and value.data.top:
            reads.add(value.data)
            if (
                value.kind not in SCALARS
                and not value.data.simple
                and value.kind not in ("plot", "hline")
            ):
                touches.add(value.data)
        if value.op == "method" or (value.op == "call" and value.kind in DRAWN):
            family = value.args[0].kind if value.op == "method" else value.kind
            if value.op == "call" or value.data in ("delete", "copy"):
                touches.add(f"drawn {family}")
        for arg in value.args:
            self._reads(arg, reads, earlier, touches)

    @staticmethod
    def _may_be_now(offset: TypedValue) -> bool:
        constant = _literal(offset)
        return not (isinstance(constant, int | float) and constant >= 1)

    def _mode(self, step: FlatStep) -> str:
        if self._is_plain(step):
            return PLAIN
        return SERIES if self._is_series(step) else LOOP

    def _is_plain(self, step: FlatStep) -> bool:
        match step:
            case Set():
                return step.var.simple and step.value.simple
            case Unpack():
                return all(v.simple for v in step.targets) and step.value.simple
            case IfStep():
                return step.test.simple and all(
                    self._is_plain(s) for s in (*step.body, *step.orelse)
                )
            case ForStep():
                return all(v.simple for v in step.values()) and all(
                    self._is_plain(s) or isinstance(s, JumpStep) for s in step.body
                )
            case Effect():
                return step.value.simple and not _draws(step.value)
        return False

    def _is_series(self, step: FlatStep) -> bool:
        match step:
            case Output():
                return True
            case Set():
                return (
                    not step.var.mode
                    and step.var.kind in ("int", "float", "bool", "color", "na", "string")
                    and can_be_series(step.value)
                    and step.var not in self.forced
                )
            case Unpack():
                return (
                    step.value.op in ("call", "security")
                    and can_be_series(step.value)
                    and not any(v in self.forced for v in step.targets)
                )
            case IfStep():
                return step.test.simple and all(
                    self._is_series(s) and not isinstance(s, Output)
                    for s in (*step.body, *step.orelse)
                )
        return False

    def _straight_among(self, steps: list[FlatStep], members: list[int]) -> bool:
        return self._straight([steps[member] for member in members])

    def _straight(self, steps: list[FlatStep]) -> bool:
        """Whether series that write the same variables can stand one after the other."""
        written = {v for step in steps for v in _written(step)}
        for step in steps:
            for value in _values(step):
                for inner in value.walk():
                    if inner.op == "hist" and any(
                        v.op == "var" and v.data in written for v in inner.args[0].walk()
                    ):
                        return False
                    if inner.op == "var" and inner.data in written and inner.data.mode:
                        return False
        order = {v: i for i, step in reversed(list(enumerate(steps))) for v in _written(step)}
        for index, step in enumerate(steps):
            for value in _values(step):
                for inner in value.walk():
                    if inner.op == "var" and inner.data in written and order[inner.data] > index:
                        return False
        return True

    # Hoisting: what a loop needs of a whole series is calculated before it

    def _hoist_all(self, steps: list[FlatStep], units: list[Unit]) -> list[FlatStep] | None:
        found: list[FlatStep] = []
        changed = False
        for step, unit in zip(steps, units, strict=True):
            made: list[FlatStep] = []
            if unit.mode == LOOP:
                self._hoist_step(step, made, [], top=True)
            elif isinstance(step, Output):
                for name, value in step.options.items():
                    if not can_be_series(value) and not _listable(value):
                        var = self.fresh(name if name not in ("series",) else "value", value.kind)
                        made.append(Set(var, value, True, line=step.line))
                        step.options[name] = TypedValue("var", value.kind, data=var, line=step.line)
            if made:
                changed = True
                found += made
            found.append(step)
        return found if changed else None

    def _hoist_step(
        self,
        step: FlatStep,
        made: list[FlatStep],
        tests: list[tuple[TypedValue, bool]],
        top: bool = False,
    ) -> None:
        alone = top and isinstance(step, Set | Unpack)
        for name in ("value", "test", "start", "stop", "by", "items", "target"):
            value = getattr(step, name, None)
            if isinstance(value, TypedValue):
                setattr(
                    step, name, self._hoist(value, made, tests, step, alone and name == "value")
                )
        if isinstance(step, IfStep):
            test = step.test
            for block, holds in ((step.body, True), (step.orelse, False)):
                inner = tests if test.simple else [*tests, (test, holds)]
                for one in block:
                    self._hoist_step(one, made, inner)
        else:
            for block in step.blocks():
                for one in block:
                    self._hoist_step(one, made, tests)

    def _hoist(
        self,
        value: TypedValue,
        made: list[FlatStep],
        tests: list[tuple[TypedValue, bool]],
        step: FlatStep,
        alone: bool = False,
    ) -> TypedValue:
        if value.simple:
            return value
        if value.op == "choice" and not value.args[0].simple:
            test = self._hoist(value.args[0], made, tests, step)
            guarded = alone and isinstance(step, Set) and step.var in self.temporary
            yes = self._hoist(value.args[1], made, [*tests, (test, True)], step, guarded)
            no = self._hoist(value.args[2], made, [*tests, (test, False)], step)
            value.args = [test, yes, no]
            return value
        if value.op == "logic" and self.report.version >= 6:
            left = self._hoist(value.args[0], made, tests, step)
            right = self._hoist(value.args[1], made, [*tests, (left, value.data == "and")], step)
            value.args = [left, right]
            return value
        if not (alone and self._has_bar_form(value)) and self._needs_series(value):
            if alone and isinstance(step, Set) and step.var in self.temporary:
                what = value.data.entry.name if value.op == "call" else value.op
                raise PineError(
                    f"{what} of a value that depends on itself", value.line, value.column, what
                )
            return self._before(value, made, tests, step)
        value.args = [self._hoist(arg, made, tests, step) for arg in value.args]
        if value.op == "call":
            _relink(value)
        return value

    def _has_bar_form(self, value: TypedValue) -> bool:
        return value.op == "call" and value.data.entry.name in BY_BAR

    def _needs_series(self, value: TypedValue) -> bool:
        match value.op:
            case "call":
                return bool(value.data.entry.history) or (
                    not value.data.entry.bar and bool(value.data.entry.series)
                )
            case "price":
                return not words.VALUES[value.data][2]
            case "time" | "security":
                return True
            case "hist":
                source = value.args[0]
                if source.op == "var" and not source.data.top:
                    constant = _literal(value.args[1])
                    return constant not in (1, 2, 3)
                return source.op not in ("var", "price", "input")
        return False

    def _before(
        self,
        value: TypedValue,
        made: list[FlatStep],
        tests: list[tuple[TypedValue, bool]],
        step: FlatStep,
    ) -> TypedValue:
        """A variable in place of a value that has no form on one bar."""
        if value.op == "hist" and not can_be_series(value):
            source = self._keep(value.args[0], made, step)
            return TypedValue(
                "hist", value.kind, [source, value.args[1]], line=value.line, column=value.column
            )
        locals_ = [v.data for v in value.walk() if v.op == "var" and not v.data.top]
        if locals_:
            return self._local(value, locals_, made, step)
        if not can_be_series(value):
            value.args = [
                arg if can_be_series(arg) else self._keep(arg, made, step) for arg in value.args
            ]
            _relink(value)
        name = (
            value.data.entry.name.split(".")[-1]
            if value.op == "call"
            else {
                "price": str(value.data).rsplit(".", 1)[-1] if value.op == "price" else "",
                "hist": "earlier",
                "time": "time",
                "security": "higher",
            }[value.op]
        )
        if "," in value.kind:
            raise PineError("several values here", value.line, value.column)
        var = self.fresh(name, value.kind)
        self.temporary.add(var)
        guarded = [(t, h) for t, h in tests if value.op in ("call",) and value.data.entry.history]
        if guarded:
            if all(not any(v.op == "var" and not v.data.top for v in t.walk()) for t, _ in guarded):
                value = self._guard(value, guarded, made, step)
            else:
                self.report.note(
                    value,
                    "approximated",
                    "conditional history",
                    "is calculated on every bar, not on those alone where the condition holds",
                )
        made.append(Set(var, value, True, line=step.line))
        return TypedValue("var", value.kind, data=var, line=value.line, column=value.column)

    def _guard(
        self,
        value: TypedValue,
        tests: list[tuple[TypedValue, bool]],
        made: list[FlatStep],
        step: FlatStep,
    ) -> TypedValue:
        found: TypedValue | None = None
        for test, holds in tests:
            one = test if can_be_series(test) else self._keep(test, made, step)
            one = one if holds else TypedValue("unary", "bool", [one], "not", line=test.line)
            found = (
                one
                if found is None
                else TypedValue("logic", "bool", [found, one], "and", line=test.line)
            )
        assert found is not None
        return TypedValue(
            "choice",
            value.kind,
            [found, value, TypedValue("na", value.kind, simple=True, const=True)],
            line=value.line,
            column=value.column,
        )

    def _keep(self, value: TypedValue, made: list[FlatStep], step: FlatStep) -> TypedValue:
        if any(v.op == "var" and not v.data.top for v in value.walk()):
            locals_ = [v.data for v in value.walk() if v.op == "var" and not v.data.top]
            value = self._local(value, locals_, made, step)
        var = self.fresh("value", value.kind)
        self.forced.add(var)
        made.append(Set(var, value, True, line=step.line))
        return TypedValue("var", value.kind, data=var, line=value.line, column=value.column)

    def _local(
        self, value: TypedValue, locals_: list[Var], made: list[FlatStep], step: FlatStep
    ) -> TypedValue:
        """Calculates on every bar what stands in a block: names give way to what they stand for."""
        for _ in range(20):
            if not locals_:
                return self._hoist(value, made, [], step)
            for var in locals_:
                setters = [
                    s
                    for top in self.writers.get(var, [])
                    for s in top.walk()
                    if isinstance(s, Set) and s.var is var
                ]
                if (
                    len(setters) != 1
                    or var.mode
                    or not setters[0].first
                    or _draws(setters[0].value)
                ):
                    raise PineError(
                        "a calculation over bars of a value inside a block",
                        value.line,
                        value.column,
                        "history",
                    )
                value = _replaced(value, var, setters[0].value)
            locals_ = [v.data for v in value.walk() if v.op == "var" and not v.data.top]
        raise PineError(
            "a calculation over bars of a value inside a block", value.line, value.column, "history"
        )

    # What must be kept

    def _remember(
        self,
        steps: list[FlatStep],
        units: list[Unit],
        stages: list[list[int]],
        results: list[TypedValue],
    ) -> None:
        for number, members in enumerate(stages, -1):
            for member in members:
                for var in _written(steps[member]):
                    self.stage_of[var] = number
                    self.mode_of[var] = units[member].mode
        wanted = [(len(stages), v) for result in results for v in result.walk()]
        for number, members in enumerate(stages, -1):
            for member in members:
                wanted += [(number, v) for value in _values(steps[member]) for v in value.walk()]
        for number, value in wanted:
            if (
                value.op == "var"
                and self.mode_of.get(value.data) == LOOP
                and (number != self.stage_of[value.data])
                and value.data.top
            ):
                self.recorded.add(value.data)
            if value.op == "hist" and value.args[0].op == "var":
                var = value.args[0].data
                if self.mode_of.get(var) == LOOP and self.stage_of.get(var) == number and var.top:
                    constant = _literal(value.args[1])
                    if (
                        isinstance(constant, int | float)
                        and 1 <= constant <= 3
                        and constant == int(constant)
                    ):
                        self.before[var] = max(self.before.get(var, 0), int(constant))
                    else:
                        self.listed.add(var)
                        self.recorded.add(var)

    # Reading

    def read(self, var: Var, mode: str, value: TypedValue) -> str:
        if var not in self.mode_of and self.outer is not None and var.simple:
            return self.outer.read(var, mode, value)
        own = self.mode_of.get(var, PLAIN if var.simple else LOOP)
        if var.simple or own == PLAIN:
            return var.name
        if mode == "bar":
            if own == SERIES:
                return f"{var.name}[bar]"
            if var.top and self.stage_of.get(var) != self.stage:
                return (
                    f"{self._list(var)}[bar]"
                    if var.kind not in NUMBERS | {"bool"}
                    else f"{var.name}[bar]"
                )
            return var.name
        if own == LOOP:
            if var.kind in NUMBERS or var.kind == "bool":
                return var.name
            return self._list(var)
        return var.name

    def _list(self, var: Var) -> str:
        return f"{var.name}_s"

    def read_earlier(
        self, source: TypedValue, offset: TypedValue, shift: str, value: TypedValue
    ) -> str:
        """`source[offset]` on one bar of a loop."""
        kind = value.kind
        if source.op in ("price", "input"):
            base = self.forms.text(source, "series")
            if not re.fullmatch(r"[\w.]+", base):
                raise PineError("the history of this value", value.line, value.column, "history")
            return f"{base}[bar - {shift}]"
        if source.op != "var":
            raise PineError("the history of this value", value.line, value.column, "history")
        var = source.data
        if not var.top:
            back = _literal(offset)
            if back not in (1, 2, 3) or not any(
                s.first
                for top in self.writers.get(var, ())
                for s in top.walk()
                if isinstance(s, Set) and s.var is var
            ):
                raise PineError(
                    "the history of a value inside a block", value.line, value.column, "history"
                )
            return f"{var.name}_{back}"
        own = self.mode_of.get(var, LOOP)
        if own == SERIES or (
            self.stage_of.get(var) != self.stage and (kind in NUMBERS or kind == "bool")
        ):
            return f"{var.name}[bar - {shift}]"
        constant = _literal(offset)
        if (
            isinstance(constant, int | float)
            and var in self.before
            and 1 <= constant <= self.before[var]
            and constant == int(constant)
        ):
            return f"{var.name}_{int(constant)}"
        helper = "past" if kind in NUMBERS else "past_of"
        self._use(helper)
        past = f"{helper}({self._list(var)}, bar - {shift})"
        if kind == "bool":
            past += " == True"
        if self._may_be_now(offset) and self.stage_of.get(var) == self.stage:
            return f"({var.name} if {shift} == 0 else {past})"
        return past

    def may_be_na(self, value: TypedValue) -> bool:
        return not (value.op == "var" and not value.data.maybe_na)

    # Functions with a history

    def remembering(
        self, value: TypedValue, form: str, arguments: dict[str, Any]
    ) -> tuple[str, int]:
        if not self.tests:
            given = {k: v for k, v in arguments.items()}
            return self._series_call(form, given, value), ATOM
        tests = []
        for test, holds in self.tests:
            text = self.forms.text(test, "series", ATOM)
            tests.append(text if holds else f"~{text}")
        sources: list[str] = []
        names: list[str] = []
        replaced = dict(arguments)
        for key, argument in arguments.items():
            if isinstance(argument, TypedValue) and not argument.simple:
                names.append("abcdef"[len(names)])
                with self._no_tests():
                    sources.append(self.forms.as_series(argument))
                replaced[key] = names[-1]
        reads_prices = [
            p
            for p in ("ohlcv", *words.PRICES)
            if re.search(rf"(?<![.\w]){p}\b", re.sub(r"\{[^}]*\}", "", form))
        ]
        if reads_prices or value.kind.count(","):
            self.report.note(
                value,
                "approximated",
                "conditional history",
                "is calculated on every bar, not on those alone where the condition holds",
            )
            with self._no_tests():
                return self._series_call(form, arguments, value), ATOM
        self._use("on_bars")
        call = re.sub(
            r"\{(\w+)\??\}",
            lambda m: (
                replaced[m[1]]
                if isinstance(replaced.get(m[1]), str)
                else "\0"
                if replaced.get(m[1]) is None
                else self.forms.text(replaced[m[1]], "plain")
            ),
            form,
        )
        call = re.sub(r",? ?\0", "", call)
        for index, name in enumerate(names):
            call = re.sub(rf"(?<![\w.]){name}(?!\w)", f"s[{index}]", call)
        self.report.note(
            value, "helper", "conditional history", "remembers the bars on which it ran"
        )
        found = f"on_bars({' & '.join(tests)}, lambda s: {call}, [{', '.join(sources)}])"
        return (f"({found} == 1)", ATOM) if value.kind == "bool" else (found, ATOM)

    @contextmanager
    def _no_tests(self) -> Iterator[None]:
        tests, self.tests = self.tests, []
        try:
            yield
        finally:
            self.tests = tests

    def _series_call(self, form: str, arguments: dict[str, Any], value: TypedValue) -> str:
        self.use_prices(re.sub(r"\{[^}]*\}", "", form))

        def put(match: re.Match[str]) -> str:
            argument = arguments.get(match[1].rstrip("?"))
            if argument is None:
                return "\0"
            if match[1] in ("source", "source1", "source2", "high", "low", "condition"):
                if argument.simple and match[1] in ("source2",):
                    return self.forms.text(argument, "plain")
                return self.forms.as_series(argument)
            return self.forms.text(argument, "series")

        return re.sub(r",? ?\0", "", re.sub(r"\{([^{}]+)\}", put, form))

    def by_bar(self, value: TypedValue, arguments: dict[str, Any]) -> str:
        """A function with a history, of a value that the loop calculates."""
        name = value.data.entry.name
        if name not in BY_BAR:
            raise PineError(
                f"{name} of a value that depends on itself", value.line, value.column, name
            )
        helper, wanted = BY_BAR[name]
        self._use(helper)
        self.counter[0] += 1
        state = f"{helper.removesuffix('_at')}_state_{self.counter[0]}"
        self.states.append(state)
        args = []
        for key in wanted:
            argument = arguments.get(key)
            args.append("1" if argument is None else self.forms.text(argument, "bar"))
        self.report.note(value, "helper", name, f"{helper} keeps its state from bar to bar")
        return f"{helper}({', '.join([state, *args])})"

    def security(self, value: TypedValue) -> str:
        """Calculates on higher bars, in a function with the statements behind the expression."""
        timeframe, inner = value.args
        if value.data["same"] and not value.data["previous"]:
            return self.forms.text(inner, "series", CHOICE)
        items = inner.args if inner.op == "group" else [inner]
        steps = _slice(self.root.whole, items)
        sub = Writer([_copy(step) for step in steps], self.report, self)
        sub.run(items)
        results = [sub.forms.as_series(item) for item in items]
        self.counter[0] += 1
        function = f"higher_{self.counter[0]}"
        body = [
            *sub._head(),
            *sub.lines,
            f"    return {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}",
        ]
        pad = "    " * self.indent
        self.lines.append(f"{pad}def {function}(ohlcv):")
        self.places.append(value.line)
        for line in body:
            self.lines.append(pad + line)
            self.places.append(value.line)
        period = self.forms.timeframe(timeframe)
        call = f"ohlcv.security({period}, {function})"
        if not period.startswith('"'):
            call = (
                f'(ohlcv.security({period}, {function}) if {period} != "" else {function}(ohlcv))'
            )
        if value.data["previous"]:
            self.report.note(value, "helper", "lookahead", "the period before, from its close on")
            if len(items) > 1:
                raise PineError(
                    "several values of the period before", value.line, value.column, "lookahead"
                )
        if inner.kind == "bool":
            return f"({call} == 1)"
        return call

    # Writing

    def put(self, text: str, line: int = 0) -> None:
        self.lines.append("    " * self.indent + text)
        self.places.append(line)

    def _head(self) -> list[str]:
        found = []
        prices = [p for p in words.PRICES if p in self.prices]
        if prices:
            found.append(f"    {', '.join(prices)} = {', '.join(f'ohlcv.{p}' for p in prices)}")
        if "zone" in self.prices:
            found.append('    zone = ohlcv.day_roll.split(" ")[-1]')
        return found

    def _comments(self, step: FlatStep) -> None:
        if self.outer or not step.line or step.line in self.reported:
            return
        self.reported.add(step.line)
        texts: list[str] = []
        line = step.line - 1
        while (
            line in self.report.comments
            and line > self.report.first_statement
            and line not in self.reported
        ):
            self.reported.add(line)
            texts.insert(0, self.report.comments[line].strip())
            line -= 1
        for text in texts[-6:]:
            if re.search(r"\w", text):
                clean = "".join(c for c in text if c.isprintable())
                self.put(f"# {clean[:110]}", step.line)

    def _write_stage(self, number: int, steps: list[FlatStep]) -> None:
        self.stage = number
        if number % 2 == 0 or number == -1:
            self.mode = "plain" if number == -1 else "series"
            for step in steps:
                self._comments(step)
                self.step(step)
            return
        self._write_loop(steps)

    def _write_loop(self, steps: list[FlatStep]) -> None:
        self.mode = "bar"
        outer, places = self.lines, self.places
        self.lines, self.places = [], []
        self.indent += 1
        starts: list[str] = []
        for step in steps:
            self._comments(step)
            if isinstance(step, Set) and step.var.mode and step.first:
                self._start(step, starts)
            else:
                self.step(step)
        for var in self._kept(steps):
            for back in range(self.before.get(var, 0), 0, -1):
                self.put(
                    f"{var.name}_{back} = {var.name}_{back - 1}"
                    if back > 1
                    else f"{var.name}_1 = {var.name}"
                )
            if var in self.recorded:
                self.put(f"{self._list(var)}.append({var.name})")
        self.indent -= 1
        body, body_places = self.lines, self.places
        self.lines, self.places = outer, places
        self.put("# Bar by bar")
        for text in starts:
            self.put(text)
        for state in self.states:
            self.put(f"{state} = []")
        self.states = []
        for var in self._kept(steps):
            empty = self._empty(var)
            for back in range(1, self.before.get(var, 0) + 1):
                self.put(f"{var.name}_{back} = {empty}")
            if var in self.recorded:
                self.put(f"{self._list(var)} = []")
        if any(re.search(r"\blast\b", line) for line in body):
            self.put("last = len(ohlcv) - 1")
        if not body:
            return
        self.put("for bar in range(len(ohlcv)):")
        self.lines += body
        self.places += body_places
        for var in self._kept(steps):
            if var in self.recorded and (var.kind in NUMBERS or var.kind == "bool"):
                tail = " == 1" if var.kind == "bool" else ""
                self.put(f"{var.name} = ta.shift({self._list(var)}, 0){tail}")

    def _empty(self, var: Var) -> str:
        return "na" if var.kind in NUMBERS else "False" if var.kind == "bool" else "None"

    def _kept(self, steps: list[FlatStep]) -> list[Var]:
        found: dict[Var, None] = {}
        for step in steps:
            for var in _written(step):
                if var.top and (var in self.recorded or var in self.before):
                    found[var] = None
        return list(found)

    def _start(self, step: Set, starts: list[str]) -> None:
        """A var: its first value before the loop where it is known there, else on the first bar."""
        var, value = step.var, step.value
        if value.op == "na":
            value.kind = var.kind
        if value.simple or (
            value.op in ("array", "dict", "matrix", "make")
            and not any(
                v.op in ("var", "price", "input", "call", "method") and not v.simple
                for v in value.walk()
            )
        ):
            starts.append(f"{var.name} = {self.forms.text(value, 'plain')}")
            return
        starts.append(f"{var.name} = {self._empty(var)}")
        self.put("if bar == 0:", step.line)
        self.indent += 1
        self.put(f"{var.name} = {self.forms.text(value, 'bar')}", step.line)
        self.indent -= 1

    def step(self, step: FlatStep) -> None:
        match step:
            case Set():
                self._set(step)
            case Unpack():
                names = ", ".join(v.name for v in step.targets)
                text = self.forms.text(step.value, self.mode)
                if any(v.kind == "bool" for v in step.targets):
                    raise PineError("several values, one of them a condition", step.line, 1)
                self.put(f"{names} = {text}", step.line)
            case SetField():
                self.put(
                    f'{self.forms.text(step.target, self.mode, ATOM)}["{step.field}"] = '
                    f"{self.forms.text(step.value, self.mode)}",
                    step.line,
                )
            case Effect():
                self._effect(step)
            case IfStep():
                self._if(step)
            case ForStep():
                self._for(step)
            case EachStep():
                self._each(step)
            case WhileStep():
                self.put("for turn in range(100000):", step.line)
                self.indent += 1
                self.put(f"if not ({self.forms.text(step.test, self.mode)}):", step.line)
                self.put("    break", step.line)
                self.block(step.body)
                self.indent -= 1
            case JumpStep():
                self.put(step.word, step.line)
            case Output():
                from chartpact.pine.outputs import write_output

                write_output(self, step)

    def _set(self, step: Set) -> None:
        var = step.var
        if step.value.op == "na":
            step.value.kind = var.kind
        if var.mode and step.first and self.mode == "bar":  # inside a block
            flag = f"{var.name}_begun"
            self.put(f"if not {flag}:", step.line)
            self.put(f"    {flag} = True", step.line)
            self.put(f"    {var.name} = {self.forms.text(step.value, 'bar')}", step.line)
            self.states_before(flag, var)
            return
        if not var.top and step.first and self.mode == "bar":
            self._step_back(var, step)
        if self.mode == "series" and not var.simple:
            text = self.forms.as_series(step.value)
        else:
            text = self.forms.text(step.value, self.mode)
        if text != var.name:
            self.put(f"{var.name} = {text}", step.line)

    def _step_back(self, var: Var, step: FlatStep) -> None:
        """Keeps what a variable inside a block was when the block ran before."""
        if self.root.local_history is None:
            self.root.local_history = _local_history(self.root.whole)
        depth = self.root.local_history.get(var, 0)
        for back in range(depth, 0, -1):
            self.put(
                f"{var.name}_{back} = {var.name}_{back - 1}"
                if back > 1
                else f"{var.name}_1 = {var.name}",
                step.line,
            )
        if depth:
            for back in range(depth + 1):
                self.setup_lines.append(
                    f"{var.name}_{back} = {self._empty(var)}"
                    if back
                    else f"{var.name} = {self._empty(var)}"
                )

    def states_before(self, flag: str, var: Var) -> None:
        self.setup_lines.append(f"{flag} = False")
        self.setup_lines.append(f"{var.name} = {self._empty(var)}")

    @property
    def setup_lines(self) -> list[str]:
        return self.setup

    def _effect(self, step: Effect) -> None:
        value = step.value
        if value.op == "method":
            handle = value.args[0]
            owner = self.forms.text(handle, self.mode, ATOM)
            if self.may_be_na(handle):
                if value.data == "delete":
                    self._use("delete")
                    self.put(f"delete({self.forms.text(handle, self.mode)})", step.line)
                    return
                if not re.fullmatch(r"\w+(\[[\w\" .+-]+\])*", owner):
                    self.counter[0] += 1
                    name = f"drawn_{self.counter[0]}"
                    self.put(f"{name} = {owner}", step.line)
                    var = Var(name, handle.kind, top=False, maybe_na=False)
                    value = TypedValue(
                        "method",
                        value.kind,
                        [TypedValue("var", handle.kind, data=var), *value.args[1:]],
                        value.data,
                    )
                    owner = name
                self.put(f"if {owner} != None:", step.line)
                self.indent += 1
                self.put(self.forms.text(value, self.mode), step.line)
                self.indent -= 1
                return
        self.put(self.forms.text(value, self.mode), step.line)

    def block(self, steps: list[FlatStep]) -> None:
        start = len(self.lines)
        for step in steps:
            self._comments(step)
            self.step(step)
        if all(line.strip().startswith("#") for line in self.lines[start:]):
            self.put("pass")

    def _if(self, step: IfStep) -> None:
        mode = "plain" if step.test.simple else self.mode
        body, orelse = step.body, step.orelse
        self.put(f"if {self.forms.text(step.test, mode, OR)}:", step.line)
        self._indented(body)
        while len(orelse) == 1 and isinstance(orelse[0], IfStep):
            step = orelse[0]
            self.put(
                f"elif {self.forms.text(step.test, self.mode, OR)}:",
                step.line,
            )
            self._indented(step.body)
            orelse = step.orelse
        if orelse:
            self.put("else:", step.line)
            self._indented(orelse)

    def _indented(self, steps: list[FlatStep]) -> None:
        self.indent += 1
        self.block(steps)
        self.indent -= 1

    def _for(self, step: ForStep) -> None:
        start, stop, by = (
            _literal(step.start),
            _literal(step.stop),
            _literal(step.by) if step.by else 1,
        )
        if isinstance(start, int) and isinstance(stop, int) and isinstance(by, int) and by:
            by = abs(by)
            head = (
                f"range({start}, {stop + 1})"
                if start <= stop
                else f"range({start}, {stop - 1}, -{by})"
            )
            if by != 1 and start <= stop:
                head = f"range({start}, {stop + 1}, {by})"
            head = (
                head.replace("range(0, ", "range(")
                if start == 0 and by == 1 and start <= stop
                else head
            )
        else:
            self._use("turns")
            step_text = self.forms.text(step.by, self.mode) if step.by else "1"
            ends = (self.forms.text(value, self.mode) for value in (step.start, step.stop))
            head = f"turns({', '.join(ends)}, {step_text})"
        if step.by is not None and step.by.kind == "float":
            self._use("turns_by")
            head = head.replace("turns(", "turns_by(")
        self.put(f"for {step.var.name} in {head}:", step.line)
        self.indent += 1
        if (
            self.report.version >= 6
            and any(v.op == "call" and v.data.name == "array.size" for v in step.stop.walk())
            and (_removes(step.body))
        ):
            self.put(f"if {step.var.name} > {self.forms.text(step.stop, self.mode)}:", step.line)
            self.put("    break", step.line)
        self.block(step.body)
        self.indent -= 1

    def _each(self, step: EachStep) -> None:
        items = self.forms.text(step.items, self.mode)
        if step.items.kind.startswith("map"):
            names = f"{step.index.name}, {step.var.name}" if step.index else f"_, {step.var.name}"
            self.put(f"for {names} in {items}.items():", step.line)
        elif step.index is not None:
            self.put(
                f"for {step.index.name}, {step.var.name} in enumerate(list({items})):", step.line
            )
        else:
            self.put(f"for {step.var.name} in list({items}):", step.line)
        self._indented(step.body)


def _local_history(steps: list[FlatStep]) -> dict[Var, int]:
    """How far back variables inside of blocks are read."""
    found: dict[Var, int] = {}
    for step in steps:
        for top in _values(step):
            for value in top.walk():
                if value.op == "hist" and value.args[0].op == "var" and not value.args[0].data.top:
                    back = _literal(value.args[1])
                    if back in (1, 2, 3):
                        var = value.args[0].data
                        found[var] = max(found.get(var, 0), int(back))
    return found


def _replaced(value: TypedValue, var: Var, by: TypedValue) -> TypedValue:
    """A copy of the value in which another stands in place of the variable."""
    if value.op == "var":
        return by if value.data is var else value
    found = copy(value)
    found.args = [_replaced(arg, var, by) for arg in value.args]
    if value.op == "call":
        found.data = type(value.data)(value.data.entry, dict(value.data.arguments))
        _relink(found)
    elif value.op in ("array", "matrix", "time"):
        found.data = {
            k: _replaced(v, var, by) if isinstance(v, TypedValue) else v
            for k, v in value.data.items()
        }
    return found


def _written(step: FlatStep) -> list[Var]:
    found: list[Var] = []
    for inner in step.walk():
        if isinstance(inner, Set):
            found.append(inner.var)
        elif isinstance(inner, Unpack):
            found += inner.targets
    return found


def _writers(steps: list[FlatStep]) -> dict[Var, list[FlatStep]]:
    found: dict[Var, list[FlatStep]] = {}
    for step in steps:
        for var in _written(step):
            found.setdefault(var, []).append(step)
    return found


def _values(step: FlatStep) -> list[TypedValue]:
    return [value for inner in step.walk() for value in inner.values()]


def _draws(value: TypedValue) -> bool:
    return any(v.op == "method" or v.kind in DRAWN or v.kind == "void" for v in value.walk())


def _listable(value: TypedValue) -> bool:
    return value.op == "var"


def _relink(value: TypedValue) -> None:
    """Puts changed arguments of a call back under their names."""
    if value.op != "call":
        return
    args = iter(value.args)
    for name, argument in value.data.arguments.items():
        if isinstance(argument, list):
            value.data.arguments[name] = [next(args) for _ in argument]
        elif argument is not None:
            value.data.arguments[name] = next(args)


def _removes(steps: list[FlatStep]) -> bool:
    names = ("array.remove", "array.pop", "array.shift", "array.clear")
    return any(
        v.op == "call" and v.data.name in names
        for s in steps
        for value in _values(s)
        for v in value.walk()
    )


def _slice(steps: list[FlatStep], wanted: list[TypedValue]) -> list[FlatStep]:
    """The statements that these values depend on, in their order."""
    needed = {v.data for value in wanted for v in value.walk() if v.op == "var"}
    chosen: set[int] = set()
    while True:
        more = {
            i
            for i, step in enumerate(steps)
            if i not in chosen
            and not isinstance(step, Output)
            and any(v in needed and not v.simple for v in _written(step))
        }
        if not more:
            return [steps[i] for i in sorted(chosen)]
        chosen |= more
        for i in more:
            needed |= {v.data for value in _values(steps[i]) for v in value.walk() if v.op == "var"}


def _copy(step: FlatStep) -> FlatStep:
    memo: dict[int, Any] = {}
    for inner in step.walk():
        for value in inner.values():
            for v in value.walk():
                if v.op == "var":
                    memo[id(v.data)] = v.data
                elif v.op == "call":
                    memo[id(v.data.entry)] = v.data.entry
        if isinstance(inner, Set):
            memo[id(inner.var)] = inner.var
        elif isinstance(inner, Unpack):
            for var in inner.targets:
                memo[id(var)] = var
        elif isinstance(inner, ForStep):
            memo[id(inner.var)] = inner.var
    return deepcopy(step, memo)


def write(
    program: FlatProgram, report: Report, source: str, with_lines: bool = False
) -> tuple[str, dict[int, int]]:
    """The script, and for each of its lines the line of Pine that it comes from."""
    writer = Writer(program.steps, report)
    writer.run()
    outputs = [line for line in writer.lines]
    lines: list[tuple[str, int]] = [
        (f"# {text}"[:120].rstrip(), 0) for text in report.head()[:12] if text.strip("= ")
    ]
    lines += [(f"# Imported from Pine v{report.version}.", 0), ("", 0)]
    lines.append(("PARAMS = [" if program.params else "PARAMS = []", 0))
    if program.params:
        lines += [*((f"    {_dict(param)},", 0) for param in program.params), ("]", 0)]
    lines.append((f"META = {_dict(program.meta)}", 0))
    used = "\n".join(outputs)
    text_helpers = "\n".join(HELPERS[n] for n in writer.helpers)
    if re.search(r"\bna\b", used + text_helpers):
        lines += [("", 0), ('na = float("nan")', 0)]
    for name in HELPERS:
        if name in writer.helpers:
            lines += [("", 0), ("", 0), *((line, 0) for line in HELPERS[name].split("\n"))]
    lines += [("", 0), ("", 0), ("def compute(ohlcv, params, chart):", 0)]
    for param in program.params:
        if re.search(rf"\b{param['name']}\b", used):
            lines.append((f'    {param["name"]} = params["{param["name"]}"]', 0))
    lines += [(line, 0) for line in writer._head()]
    lines += [(f"    {line}", 0) for line in writer.setup]
    if not outputs:
        outputs, writer.places = ["    pass"], [0]
    lines += list(zip(outputs, writer.places, strict=True))
    if with_lines:
        lines = [
            (
                f"{text}  # pine {place}"
                if place and text.strip() and not text.strip().startswith("#")
                else text,
                place,
            )
            for text, place in lines
        ]
    return "\n".join(text for text, _ in lines) + "\n", {
        n: place for n, (_, place) in enumerate(lines, 1) if place
    }


def _dict(values: dict[str, Any]) -> str:
    return "{" + ", ".join(f'"{key}": {_constant(value)}' for key, value in values.items()) + "}"


def _constant(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return "[" + ", ".join(_constant(item) for item in value) + "]"
    return repr(value)
