"""From the tree to a program: names of v6, kinds, times, and functions written out where called.

Pine gives every call of a function its own state, so a call is written out: its body takes the
place of the call, under names of its own. What is known before the bars (constants, inputs and what
is made of them alone) stays plain; a variable that is assigned a value of the bars, or under a
condition of the bars, is not. That is found by trying: all variables are taken as plain first, and
each run names those that are not, until a run names no new one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chartpact.pine import tree as t
from chartpact.pine import vocabulary as words
from chartpact.pine.errors import PineError
from chartpact.pine.helpers import HELPERS
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
    Set,
    SetField,
    TypedValue,
    Unpack,
    Var,
    WhileStep,
    element,
    unify,
)
from chartpact.pine.report import Report

MAX_STEPS = 20_000  # statements after functions are written out
MAX_CALLS = 40  # of functions in one another
_RESERVED = frozenset(HELPERS) | frozenset(
    (
        "and or not if else elif for in def return pass break continue lambda load while import"
        " from as is class try with raise yield global del assert except finally nonlocal async"
        " await ta math color text payload ohlcv params chart na zone bar last compute PARAMS META"
        " abs all any bool dict enumerate fail float int len list max min print range repr"
        " reversed sorted str sum tuple type zip True False None open high low close volume hl2"
        " hlc3 ohlc4 hlcc4"
    ).split()
)


# Lowers a call of one of Pine's own functions.
CallBuiltin = Callable[["Lowering", str, t.CallNode, TypedValue | None], TypedValue | None]


@dataclass
class _Callable:
    functions: list[t.FunctionNode]


@dataclass
class _Type:
    fields: list[t.Parameter]


@dataclass
class _Enum:
    members: dict[str, str]


@dataclass
class _Block:
    steps: list[FlatStep] = field(default_factory=list)


def lower(source: t.PineSource, report: Report, call_builtin: CallBuiltin) -> FlatProgram:
    """The program of a script."""
    dynamic: set[tuple[object, ...]] = set()
    for _ in range(30):
        report.restart()
        run = Lowering(source, report, dynamic, call_builtin)
        program = run.program()
        if run.found <= dynamic:
            return program
        dynamic |= run.found
    raise PineError("the kinds of the variables could not be settled")


class Lowering:
    _casts = frozenset(("label", "line", "box", "table", "polyline", "linefill"))

    def __init__(
        self,
        source: t.PineSource,
        report: Report,
        dynamic: set[tuple[object, ...]],
        call_builtin: CallBuiltin,
    ) -> None:
        self.call_builtin = call_builtin
        self.source, self.report, self.version = source, report, source.version
        self.dynamic, self.found = dynamic, set[tuple[object, ...]]()
        self.names: dict[str, int] = {}
        self.scopes: list[dict[str, Any]] = [{}]
        self.out: list[FlatStep] = []
        self.plain = True  # outside of every condition of the bars
        self.depth = 0
        self.calls: list[str] = []
        self.made = 0
        self.params: list[dict[str, Any]] = []
        self.meta: dict[str, Any] = {"title": "Imported from Pine", "overlay": False}
        self.keys: dict[Var, tuple[object, ...]] = {}
        self.wanted = ""  # the name that an input's parameter gets
        self.mutable = _mutated(source.body)

    # The whole

    def program(self) -> FlatProgram:
        self.hoist_functions()
        for statement in self.source.body:
            self.top_statement(statement)
        return FlatProgram(self.meta["title"], self.meta, self.params, self.out)

    def hoist_functions(self) -> None:
        for statement in self.source.body:
            if isinstance(statement, t.TypeOf):
                self.scopes[0][statement.name] = _Type(statement.fields)
            elif isinstance(statement, t.EnumOf):
                self.scopes[0][statement.name] = _Enum(dict(statement.members))

    def top_statement(self, statement: t.Stmt) -> None:
        before, scopes = len(self.out), self.scopes
        try:
            self.statement(statement)
            self.report.done(statement.line, statement.column)
        except PineError as error:
            self.scopes, self.depth, self.plain, self.calls = scopes[:1], 0, True, []
            del self.out[before:]
            self.report.refuse(error, statement)
            for name in _assigned(statement):
                self.scopes[0][name] = error

    # Names and variables

    def script_name(self, name: str) -> str:
        clean = name.lstrip("_") + "_" * (len(name) - len(name.lstrip("_")))
        clean = re.sub(r"[^A-Za-z0-9_]", "x", clean) or "x"
        if clean[0].isdigit():
            clean = f"v{clean}"
        if clean in _RESERVED:
            clean += "_"
        count = self.names.get(clean, 0)
        self.names[clean] = count + 1
        if count:
            return self.script_name(f"{clean}_{count + 1}")
        return clean

    def variable(
        self,
        name: str,
        kind: str,
        mode: str = "",
        line: int = 0,
        simple: bool = False,
        key: tuple[object, ...] = (),
    ) -> Var:
        var = Var(
            self.script_name(name), kind, "var" if mode else "", simple, self.depth == 0, line
        )
        self.keys[var] = key or (name, line, tuple(self.calls))
        if self.keys[var] in self.dynamic:
            var.simple = False
        return var

    def make_dynamic(self, var: Var) -> None:
        self.found.add(self.keys[var])

    def look(self, name: str) -> Any:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def emit(self, step: FlatStep, line: int = 0) -> None:
        step.line = line
        self.made += 1
        if self.made > MAX_STEPS:
            raise PineError(
                "the script is too long once its functions are written out", line, 1, "limit"
            )
        self.out.append(step)

    def block(self, work: Callable[[], Any], plain: bool) -> tuple[list[FlatStep], Any]:
        """The steps that the work makes, in a scope of its own, and what it gives."""
        out, was, scopes = self.out, self.plain, self.scopes
        self.out, self.plain, self.scopes = [], self.plain and plain, [*self.scopes, {}]
        self.depth += 1
        try:
            value = work()
            return self.out, value
        finally:
            self.out, self.plain, self.scopes = out, was, scopes
            self.depth -= 1

    # Statements

    def statement(self, s: t.Stmt) -> TypedValue | None:
        """Lowers a statement; its value, if it has one."""
        match s:
            case t.Declare():
                return self.declare(s)
            case t.Assign():
                return self.assign(s)
            case t.Do():
                return self.do(s)
            case t.Jump():
                self.emit(JumpStep(s.word), s.line)
            case t.FunctionNode():
                self.define(s)
            case t.Import():
                raise PineError(f"the library {s.path} is not at hand", s.line, s.column, "import")
            case t.TypeOf() | t.EnumOf():
                pass
        return None

    def define(self, s: t.FunctionNode) -> None:
        known = self.scopes[-1].get(s.name)
        functions = known.functions if isinstance(known, _Callable) else []
        self.scopes[-1][s.name] = _Callable([*functions, s])

    def declare(self, s: t.Declare) -> TypedValue | None:
        if len(s.names) > 1:
            return self.declare_many(s)
        name = s.names[0]
        if (
            self.version < 4
            and self.look(name) is None
            and name not in self.mutable
            and _reads_itself(s)
        ):
            return self.declare_itself(s, name)
        self.wanted = name
        value = self.expression(s.value)
        self.wanted = ""
        if value is None or value.kind == "void":
            raise PineError("this gives no value", s.line, s.column)
        kind = self.kind_of(s.kind) or value.kind
        if value.op == "plotted":
            self.scopes[-1][name] = value
            return value
        reassigned = name in self.mutable
        if value.op in ("input", "alias") and not reassigned and not s.mode:
            self.scopes[-1][name] = value
            return value
        simple = value.simple and self.plain
        if s.mode and reassigned:
            simple = False
        var = self.variable(name, kind, s.mode, s.line, simple)
        if s.mode and reassigned:
            self.make_dynamic(var)
        if not value.simple or not self.plain:
            self.make_dynamic(var)
        var.maybe_na = not (value.op == "call" and not s.mode and not reassigned)
        self.emit(Set(var, self.as_kind(value, kind), True), s.line)
        self.scopes[-1][name] = var
        return self.read(var, s)

    def declare_itself(self, s: t.Declare, name: str) -> TypedValue:
        """Old versions let a variable refer to its own earlier values where it is declared."""
        var = self.variable(name, "float", "", s.line)
        self.make_dynamic(var)
        self.scopes[-1][name] = var
        value = self.as_number(self.need(s.value))
        var.kind = value.kind if value.kind in ("bool", "color", "string") else "float"
        self.emit(Set(var, value, True), s.line)
        return self.read(var, s)

    def declare_many(self, s: t.Declare) -> TypedValue | None:
        value = self.expression(s.value)
        if value is None:
            raise PineError("this gives no value", s.line, s.column)
        kinds = value.kind.split(",") if "<" not in value.kind else _split(value.kind)
        if len(kinds) != len(s.names):
            raise PineError(f"{len(s.names)} names for {len(kinds)} values", s.line, s.column)
        if value.op == "group":
            for name, item in zip(s.names, value.args, strict=True):
                var = self.variable(name, item.kind, s.mode, s.line, item.simple and self.plain)
                if not item.simple or not self.plain:
                    self.make_dynamic(var)
                self.emit(Set(var, item, True), s.line)
                self.scopes[-1][name] = var
            return None
        found = []
        for name, kind in zip(s.names, kinds, strict=True):
            var = self.variable(name, kind, s.mode, s.line)
            self.make_dynamic(var)
            found.append(var)
            if name != "_":
                self.scopes[-1][name] = var
        self.emit(Unpack(found, value), s.line)
        return None

    def assign(self, s: t.Assign) -> TypedValue | None:
        target = s.target
        if isinstance(target, t.Name) and "." not in target.name:
            var = self.look(target.name)
            if isinstance(var, PineError):
                raise var
            if not isinstance(var, Var):
                raise PineError(f"{target.name} is not declared", s.line, s.column)
            value = self.need(s.value)
            if s.op != ":=":
                value = self.binary(s.op[0], self.read(var, s), value, s)
            var.kind = (
                unify(var.kind, value.kind)
                if var.kind == "na" or (var.kind == "int" and value.kind == "float")
                else var.kind
            )
            if not (value.simple and self.plain) or var.mode:
                self.make_dynamic(var)
            self.emit(Set(var, self.as_kind(value, var.kind)), s.line)
            return self.read(var, s)
        node = self.member_of(target)
        if node is None or node.op != "field":
            raise PineError("this cannot be assigned to", s.line, s.column)
        value = self.need(s.value)
        if s.op != ":=":
            value = self.binary(s.op[0], node, value, s)
        self.touch(node.args[0])
        self.emit(SetField(node.args[0], node.data, self.as_kind(value, node.kind)), s.line)
        return None

    def touch(self, value: TypedValue) -> None:
        """Marks what a change of this value changes as something of the bars."""
        while value.op in ("field", "call", "hist") and value.args:
            value = value.args[0]
        if value.op == "var":
            self.make_dynamic(value.data)

    def do(self, s: t.Do) -> TypedValue | None:
        value = self.expression(s.value, wanted=False)
        if value is None:
            return None
        if value.kind == "void" or _has_effect(value):
            self.emit(Effect(value), s.line)
            return None if value.kind == "void" else value
        return value

    # Structures

    def structure(self, node: t.Expr, wanted: bool) -> TypedValue | None:
        match node:
            case t.If():
                return self.if_(node, wanted)
            case t.Switch():
                return self.if_(self.unswitch(node), wanted)
            case t.For():
                return self.for_(node)
            case t.ForIn():
                return self.each(node)
            case t.While():
                test: list[TypedValue] = []

                def body() -> None:
                    for statement in node.body:
                        self.statement(statement)

                steps, _ = self.block(lambda: test.append(self.condition(node.test)), True)
                if steps:
                    raise PineError("this condition of a while is too much", node.line, node.column)
                steps, _ = self.block(body, False)
                self.emit(WhileStep(test[0], steps), node.line)
        return None

    def unswitch(self, node: t.Switch) -> t.If | t.Expr:
        subject = node.subject
        if subject is not None and not isinstance(subject, t.Name):
            value = self.need(subject)
            var = self.variable("subject", value.kind, line=node.line, simple=value.simple)
            if not value.simple or not self.plain:
                self.make_dynamic(var)
            self.emit(Set(var, value, True), node.line)
            hidden = f"subject {node.line}"
            self.scopes[-1][hidden] = var
            subject = t.Name(hidden, line=node.line, column=node.column)
        orelse: list[t.Stmt] = []
        place = node.place
        for arm in reversed(node.arms):
            if arm.test is None:
                orelse = arm.body
                continue
            here = {"line": arm.line, "column": arm.column}
            test = arm.test if subject is None else t.BinaryNode("==", subject, arm.test, **here)
            orelse = [t.Do(t.If(test, arm.body, orelse, **here), **here)]
        if len(orelse) == 1 and isinstance(orelse[0], t.Do):
            return orelse[0].value
        return t.If(t.Flag(True, **place), orelse, [], **place)

    def body_value(self, body: list[t.Stmt], wanted: bool) -> TypedValue | None:
        value = None
        for index, statement in enumerate(body):
            last = index == len(body) - 1
            if last and isinstance(statement, t.Do) and wanted:
                value = self.expression(statement.value, wanted=True)
                if value is not None and value.kind == "void":
                    self.emit(Effect(value), statement.line)
                    value = None
            else:
                value = self.statement(statement)
        return value

    def if_(self, node: t.Expr, wanted: bool) -> TypedValue | None:
        if not isinstance(node, t.If):
            return self.expression(node, wanted=wanted)
        test = self.condition(node.test)
        body, yes = self.block(lambda: self.body_value(node.body, wanted), test.simple)
        orelse, no = self.block(lambda: self.body_value(node.orelse, wanted), test.simple)
        if not wanted or (yes is None and no is None):
            if body or orelse:
                self.emit(IfStep(test, body, orelse), node.line)
            return None
        yes = yes or self.na(node)
        no = no or self.na(node)
        if not body and not orelse and "," not in yes.kind:
            return self.choose(test, yes, no, node)
        kind = unify(yes.kind, no.kind)
        if "," in kind and yes.op == "group":
            return self.choose_groups(test, body, orelse, yes, no, node)
        var = self.variable(self.wanted or "value", kind, line=node.line)
        self.emit(Set(var, self.na(node), True), node.line)
        simple = test.simple and yes.simple and no.simple and self.plain
        var.simple = simple and self.keys[var] not in self.dynamic
        if not simple:
            self.make_dynamic(var)
        body.append(Set(var, self.as_kind(yes, kind), line=node.line))
        orelse.append(Set(var, self.as_kind(no, kind), line=node.line))
        self.emit(IfStep(test, body, orelse), node.line)
        return self.read(var, node)

    def choose_groups(
        self,
        test: TypedValue,
        body: list[FlatStep],
        orelse: list[FlatStep],
        yes: TypedValue,
        no: TypedValue,
        node: t.PineNode,
    ) -> TypedValue:
        found = []
        for index, item in enumerate(yes.args):
            other = no.args[index] if no.op == "group" else self.na(node)
            var = self.variable(
                "value",
                unify(item.kind, other.kind),
                line=node.line,
                key=("group", node.line, index, tuple(self.calls)),
            )
            self.make_dynamic(var)
            self.emit(Set(var, self.na(node), True), node.line)
            body.append(Set(var, item, line=node.line))
            orelse.append(Set(var, other, line=node.line))
            found.append(self.read(var, node))
        self.emit(IfStep(test, body, orelse), node.line)
        return TypedValue("group", ",".join(v.kind for v in found), found, line=node.line)

    def for_(self, node: t.For) -> TypedValue | None:
        start, stop = self.need(node.start), self.need(node.stop)
        by = self.need(node.step) if node.step else None
        plain = start.simple and stop.simple
        results: list[TypedValue] = []

        def body() -> Var:
            var = self.variable(
                node.name,
                "int" if start.kind == "int" else "float",
                line=node.line,
                simple=plain and self.plain,
            )
            if by is not None and by.kind != "int":
                var.kind = "float"
            self.scopes[-1][node.name] = var
            value = self.body_value(node.body, True)
            if value is not None and value.kind in SCALARS and value.op != "plotted":
                results.append(value)
            return var

        steps, var = self.block(body, plain)
        self.emit(ForStep(var, start, stop, by, steps), node.line)
        if results:
            last = results[-1]
            if last.op == "var" and last.data.top:
                return last
            found = self.variable("value", last.kind, line=node.line)
            self.make_dynamic(found)
            loop = self.out.pop()
            self.emit(Set(found, self.na(node), True), node.line)
            self.out.append(loop)
            steps.append(Set(found, last, line=node.line))
            return self.read(found, node)
        return None

    def each(self, node: t.ForIn) -> TypedValue | None:
        items = self.need(node.values)
        if not items.kind.startswith(("array<", "map<")):
            raise PineError("for … in wants an array", node.line, node.column)
        item = element(items.kind)

        def body() -> tuple[Var | None, Var]:
            index = None
            if len(node.names) == 2:
                kind = items.kind[4:].split(",")[0] if items.kind.startswith("map") else "int"
                index = self.variable(node.names[0], kind, line=node.line)
                self.scopes[-1][node.names[0]] = index
            var = self.variable(node.names[-1], item, line=node.line)
            self.scopes[-1][node.names[-1]] = var
            for statement in node.body:
                self.statement(statement)
            return index, var

        steps, (index, var) = self.block(body, False)
        self.emit(EachStep(index, var, items, steps), node.line)
        return None

    # Expressions

    def need(self, node: t.Expr) -> TypedValue:
        value = self.expression(node)
        if value is None or value.kind == "void":
            raise PineError("this gives no value", node.line, node.column)
        return value

    def expression(self, node: t.Expr, wanted: bool = True) -> TypedValue | None:
        place = node.place
        match node:
            case t.Number():
                return TypedValue(
                    "number",
                    "int" if node.whole else "float",
                    data=node.text,
                    simple=True,
                    const=True,
                    **place,
                )
            case t.Text():
                return TypedValue(
                    "text", "string", data=node.value, simple=True, const=True, **place
                )
            case t.Flag():
                return TypedValue("flag", "bool", data=node.value, simple=True, const=True, **place)
            case t.Hue():
                return TypedValue(
                    "text", "color", data=node.value, simple=True, const=True, **place
                )
            case t.Name():
                return self.name(node)
            case t.Member():
                return self.member_of(node)
            case t.History():
                return self.history(node)
            case t.UnaryNode():
                return self.unary(node)
            case t.BinaryNode():
                if node.op in ("and", "or"):
                    left, right = self.condition(node.left), self.condition(node.right)
                    return TypedValue(
                        "logic",
                        "bool",
                        [left, right],
                        node.op,
                        left.simple and right.simple,
                        left.const and right.const,
                        **place,
                    )
                return self.binary(node.op, self.need(node.left), self.need(node.right), node)
            case t.ChoiceNode():
                test = self.condition(node.test)
                was, self.plain = self.plain, self.plain and test.simple
                try:
                    yes, no = self.need(node.yes), self.need(node.no)
                finally:
                    self.plain = was
                return self.choose(test, yes, no, node)
            case t.Group():
                items = [self.need(item) for item in node.items]
                return TypedValue(
                    "group",
                    ",".join(item.kind for item in items),
                    items,
                    simple=all(item.simple for item in items),
                    **place,
                )
            case t.CallNode():
                return self.call(node, wanted)
        return self.structure(node, wanted)

    def na(self, node: t.PineNode) -> TypedValue:
        return TypedValue("na", "na", simple=True, const=True, line=node.line, column=node.column)

    def read(self, var: Var, node: t.PineNode) -> TypedValue:
        return TypedValue(
            "var", var.kind, data=var, simple=var.simple, line=node.line, column=node.column
        )

    def as_kind(self, value: TypedValue, kind: str) -> TypedValue:
        if value.kind == "na" and kind != "na":
            return TypedValue("na", kind, simple=True, const=True, line=value.line)
        if kind in ("int", "float") and value.kind == "bool":
            return self.as_number(value)
        if kind == "bool" and value.kind in NUMBERS:
            return self.truth(value)
        return value

    def as_number(self, value: TypedValue) -> TypedValue:
        if value.kind != "bool":
            return value
        return TypedValue("as_number", "int", [value], simple=value.simple, line=value.line)

    def truth(self, value: TypedValue) -> TypedValue:
        if value.kind == "bool":
            return value
        if value.kind not in NUMBERS:
            raise PineError("this is no condition", value.line, value.column)
        return TypedValue("truth", "bool", [value], simple=value.simple, line=value.line)

    def condition(self, node: t.Expr) -> TypedValue:
        return self.truth(self.need(node))

    def choose(
        self, test: TypedValue, yes: TypedValue, no: TypedValue, node: t.PineNode
    ) -> TypedValue:
        kind = unify(yes.kind, no.kind)
        simple = test.simple and yes.simple and no.simple
        return TypedValue(
            "choice",
            kind,
            [test, self.as_kind(yes, kind), self.as_kind(no, kind)],
            simple=simple,
            line=node.line,
            column=node.column,
        )

    def unary(self, node: t.UnaryNode) -> TypedValue:
        if node.op == "not":
            value = self.condition(node.value)
            kind = "bool"
        else:
            value = self.as_number(self.need(node.value))
            kind = value.kind
            if node.op == "+":
                return value
            if value.op == "number":
                value.data = f"-{value.data}"
                return value
        return TypedValue(
            "unary", kind, [value], node.op, value.simple, value.const, node.line, node.column
        )

    def binary(self, op: str, left: TypedValue, right: TypedValue, node: t.PineNode) -> TypedValue:
        simple, const = left.simple and right.simple, left.const and right.const
        kind = "bool"
        if op in ("==", "!="):
            if left.kind != right.kind and {left.kind, right.kind} & {"int", "float", "bool"}:
                left, right = self.as_number(left), self.as_number(right)
        elif op in ("<", "<=", ">", ">="):
            left, right = self.as_number(left), self.as_number(right)
        elif "display" in (left.kind, right.kind):
            return left
        elif op == "+" and "string" in (left.kind, right.kind):
            kind = "string"
        else:
            left, right = self.as_number(left), self.as_number(right)
            if not {left.kind, right.kind} <= NUMBERS:
                raise PineError(
                    f"{op!r} does not take a {left.kind} and a {right.kind}", node.line, node.column
                )
            kind = "int" if left.kind == right.kind == "int" else "float"
            if op == "/" and not (kind == "int" and const and self.version < 6):
                kind = "float"
        return TypedValue("binary", kind, [left, right], op, simple, const, node.line, node.column)

    def history(self, node: t.History) -> TypedValue:
        value, offset = self.need(node.value), self.need(node.offset)
        if offset.op == "number" and float(offset.data) == 0:
            return value
        if value.simple and value.kind != "na":
            return value
        return TypedValue("hist", value.kind, [value, offset], line=node.line, column=node.column)

    # Names

    def name(self, node: t.Name) -> TypedValue:
        name, place = node.name, node.place
        head = name.split(".")[0]
        bound = self.look(head)
        if isinstance(bound, PineError):
            raise PineError(
                f"{head} was refused on line {bound.line}", node.line, node.column, bound.rule
            )
        if bound is not None and not isinstance(bound, _Callable):
            value = self.bound(bound, name, node)
            if value is not None:
                return value
        if self.version < 5 and name in words.OLD_STYLES and name != "line":
            return TypedValue(
                "text", "string", data=words.OLD_STYLES[name], simple=True, const=True, **place
            )
        return self.pine_name(self.modern(name), place, node)

    def bound(self, bound: Any, name: str, node: t.Name) -> TypedValue | None:
        parts = name.split(".")
        if isinstance(bound, _Enum):
            if len(parts) == 2 and parts[1] in bound.members:
                return TypedValue(
                    "text", "string", data=bound.members[parts[1]], simple=True, const=True
                )
            return None
        if isinstance(bound, _Type):
            return None
        if isinstance(bound, Var):
            value = self.read(bound, node)
        else:
            value = TypedValue(
                bound.op,
                bound.kind,
                bound.args,
                bound.data,
                bound.simple,
                bound.const,
                node.line,
                node.column,
            )
        if len(parts) > 1 and not self.has_fields(value.kind):
            return None
        for part in parts[1:]:
            value = self.field(value, part, node)
        return value

    def has_fields(self, kind: str) -> bool:
        return kind == "chart.point" or isinstance(self.look(kind), _Type)

    def field(self, value: TypedValue, name: str, node: t.PineNode) -> TypedValue:
        known = self.look(value.kind)
        if value.kind == "chart.point":
            index = {"index": 0, "time": 0, "price": 1}.get(name)
            if index is not None:
                return TypedValue(
                    "item", "int" if index == 0 else "float", [value], index, line=node.line
                )
        if not isinstance(known, _Type):
            raise PineError(f"a {value.kind} has no field {name}", node.line, node.column)
        for one in known.fields:
            if one.name == name:
                kind = self.kind_of(one.kind) or "float"
                return TypedValue("field", kind, [value], name, line=node.line, column=node.column)
        raise PineError(f"{value.kind} has no field {name}", node.line, node.column)

    def member_of(self, node: t.Expr) -> TypedValue | None:
        if isinstance(node, t.Name):
            return self.name(node)
        if isinstance(node, t.Member):
            return self.field(self.need(node.value), node.name, node)
        return None

    def modern(self, name: str) -> str:
        if name in words.RENAMED and (
            self.version < 5 or name not in ("n", "resolution", "period", "interval")
        ):
            return words.RENAMED[name]
        if self.version < 5:
            if name.startswith(("input.", "color.")) or "." in name:
                return name
            if name in words.OLD_COLORS:
                return f"color.{name}"
        return name

    def pine_name(self, name: str, place: t.Place, node: t.Name) -> TypedValue:
        if name == "na":
            return TypedValue("na", "na", simple=True, const=True, **place)
        if name in words.VALUES:
            kind, _, _ = words.VALUES[name]
            return TypedValue("price", kind, data=name, **place)
        if name in words.SETTINGS:
            kind, _ = words.SETTINGS[name]
            if name in ("barstate.isrealtime",):
                self.report.note(node, "assumed", name, "every bar is closed")
            return TypedValue("setting", kind, data=name, simple=True, **place)
        head, _, rest = name.partition(".")
        if head == "color" and rest in words.OLD_COLORS:
            return TypedValue("text", "color", data=rest, simple=True, const=True, **place)
        if head == "display" and rest:
            return TypedValue("text", "display", data=rest, simple=True, const=True, **place)
        if head in words.TEXTS and rest:
            return TypedValue("text", "string", data=rest, simple=True, const=True, **place)
        for prefix in words.TEXT_PREFIXES:
            if name.startswith(prefix):
                rest = name.removeprefix(prefix)
                if prefix == "label.style_":
                    rest = {"labelup": "label_up", "labeldown": "label_down"}.get(rest, rest)
                return TypedValue("text", "string", data=rest, simple=True, const=True, **place)
        if self.version < 5 and name in words.OLD_STYLES:
            return TypedValue(
                "text", "string", data=words.OLD_STYLES[name], simple=True, const=True, **place
            )
        if head in ("label", "line", "box", "polyline", "table", "linefill") and rest == "all":
            return TypedValue("all", f"array<{head}>", data=head, **place)
        if head == "strategy":
            raise PineError("scripts draw, and place no orders", node.line, node.column, "orders")
        if name in words.REFUSED:
            raise PineError(words.REFUSED[name], node.line, node.column, name)
        raise PineError(f"{name} is not known", node.line, node.column, name)

    # Calls

    def call(self, node: t.CallNode, wanted: bool) -> TypedValue | None:
        target = node.target
        if isinstance(target, t.Member):
            return self.method(self.need(target.value), target.name, node)
        assert isinstance(target, t.Expr)
        if not isinstance(target, t.Name):
            raise PineError("this cannot be called", node.line, node.column)
        name = target.name
        head, _, rest = name.rpartition(".")
        bound = self.look(name) if not head else self.look(name.split(".")[0])
        if isinstance(bound, PineError):
            raise PineError(
                f"{name} was refused on line {bound.line}", node.line, node.column, bound.rule
            )
        if isinstance(bound, _Callable) and not head:
            return self.inline(self.overload(bound.functions, node), node, None)
        if head and isinstance(bound, _Type) and rest == "new":
            return self.make(head, bound, node)
        if head and isinstance(bound, _Type) and rest == "copy":
            return TypedValue("copy", head, [self.need(node.arguments[0].value)], line=node.line)
        if head and isinstance(bound, Var | TypedValue) and not self.means_pine(name, bound, node):
            owner = self.name(t.Name(head, line=node.line, column=node.column))
            return self.method(owner, rest, node)

        return self.call_builtin(self, self.modern(name), node, None)

    def means_pine(self, name: str, bound: Var | TypedValue, node: t.CallNode) -> bool:
        """Whether a dotted name means Pine's function, although its head is a variable."""
        head, _, rest = name.rpartition(".")
        family = {"string": "str"}.get(bound.kind, bound.kind.split("<")[0])
        if isinstance(self.look(rest), _Callable) or "." in head or self.has_fields(bound.kind):
            return False
        known = self.modern(name) in words.functions() or self.modern(name) in words.OUTPUTS
        if known and head == family and node.arguments:
            first = node.arguments[0].value
            return isinstance(first, t.Name) and first.name == head
        return known and f"{family}.{rest}" not in words.functions()

    def overload(
        self, functions: list[t.FunctionNode], node: t.CallNode, receiver: TypedValue | None = None
    ) -> t.FunctionNode:
        if len(functions) == 1:
            return functions[0]
        count = len(node.arguments) + (receiver is not None)
        fitting = [
            f
            for f in functions
            if sum(p.default is None for p in f.parameters) <= count <= len(f.parameters)
        ]
        first = receiver or (self.need(node.arguments[0].value) if node.arguments else None)
        for function in fitting:
            kind = self.kind_of(function.parameters[0].kind) if function.parameters else ""
            if first is not None and kind and kind == first.kind:
                return function
        return (fitting or functions)[-1]

    def method(self, owner: TypedValue, name: str, node: t.CallNode) -> TypedValue | None:
        bound = self.look(name)
        if isinstance(bound, _Callable):
            matching = [
                f
                for f in bound.functions
                if f.parameters and self.kind_of(f.parameters[0].kind) in ("", owner.kind)
            ]
            if matching:
                return self.inline(self.overload(matching, node, owner), node, owner)
        if name == "copy" and isinstance(self.look(owner.kind), _Type):
            return TypedValue("copy", owner.kind, [owner], line=node.line)

        family = owner.kind.split("<")[0]
        if family in ("string",):
            family = "str"
        return self.call_builtin(self, f"{family}.{name}", node, owner)

    def make(self, kind: str, known: _Type, node: t.CallNode) -> TypedValue:
        given: dict[str, TypedValue] = {}
        for index, argument in enumerate(node.arguments):
            name = argument.name or known.fields[min(index, len(known.fields) - 1)].name
            given[name] = self.need(argument.value)
        values = []
        for one in known.fields:
            want = self.kind_of(one.kind) or "float"
            if one.name in given:
                value = given[one.name]
            elif one.default is not None:
                value = self.need(one.default)
            else:
                value = self.na(node)
            values.append(self.as_kind(value, want))
        return TypedValue(
            "make",
            kind,
            values,
            [one.name for one in known.fields],
            line=node.line,
            column=node.column,
        )

    def inline(
        self, function: t.FunctionNode, node: t.CallNode, receiver: TypedValue | None
    ) -> TypedValue | None:
        if len(self.calls) >= MAX_CALLS or f"{function.name}" in [
            c.split("@")[0] for c in self.calls
        ]:
            raise PineError(f"{function.name} calls itself", node.line, node.column, "recursion")
        given: dict[str, TypedValue] = {}
        if receiver is not None:
            given[function.parameters[0].name] = receiver
        position = int(receiver is not None)
        for argument in node.arguments:
            if argument.name is None:
                if position >= len(function.parameters):
                    raise PineError(
                        f"{function.name} takes {len(function.parameters)} arguments",
                        argument.line,
                        argument.column,
                    )
                given[function.parameters[position].name] = self.need(argument.value)
                position += 1
            else:
                given[argument.name] = self.need(argument.value)
        mutated = _mutated(function.body)
        scope: dict[str, Any] = {}
        scopes, mutable = self.scopes, self.mutable
        self.calls.append(f"{function.name}@{node.line}:{node.column}")
        try:
            for parameter in function.parameters:
                value = given.get(parameter.name)
                if value is None:
                    if parameter.default is None:
                        raise PineError(
                            f"{function.name} wants {parameter.name}", node.line, node.column
                        )
                    value = self.need(parameter.default)
                kind = self.kind_of(parameter.kind) or value.kind
                value = self.as_kind(value, kind)
                if parameter.name not in mutated and (
                    value.op in ("price", "input", "setting")
                    or value.const
                    or (
                        value.op == "var" and (value.data.simple or not self._rewritten(value.data))
                    )
                    or kind in DRAWN
                    or kind.startswith(("array<", "map<", "matrix<"))
                    or isinstance(self.look(kind), _Type)
                ):
                    scope[parameter.name] = value
                    continue
                var = self.variable(
                    parameter.name, kind, line=node.line, simple=value.simple and self.plain
                )
                if not value.simple or not self.plain:
                    self.make_dynamic(var)
                self.emit(Set(var, value, True), node.line)
                scope[parameter.name] = var
            self.scopes, self.mutable = [self.scopes[0], scope], mutated
            value = self.body_value(function.body, True)
            return value
        finally:
            self.scopes, self.mutable = scopes, mutable
            self.calls.pop()

    def _rewritten(self, var: Var) -> bool:
        return bool(var.mode) or self.keys[var][0] in self.mutable

    def kind_of(self, text: str) -> str:
        """The kind that a written type means, or nothing."""
        text = text.removeprefix("const ").strip()
        if text in ("", "series", "simple", "const", "input"):
            return ""
        if text in ("int", "float", "bool", "string", "color", "chart.point", *DRAWN):
            return text
        if text.startswith(("array<", "map<", "matrix<")):
            return text
        if isinstance(self.look(text), _Type):
            return text
        if isinstance(self.look(text), _Enum):
            return "string"
        if text in ("hline", "plot"):
            return text
        raise PineError(f"the type {text} is not known")


def _reads_itself(s: t.Declare) -> bool:
    return any(
        isinstance(node, t.History)
        and isinstance(node.value, t.Name)
        and node.value.name == s.names[0]
        for node in s.value.walk()
    )


def _split(kinds: str) -> list[str]:
    parts, depth = [""], 0
    for c in kinds:
        depth += (c == "<") - (c == ">")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


_EFFECTS = frozenset(("array.pop", "array.shift", "array.remove", "map.remove", "array.concat"))


def _has_effect(value: TypedValue) -> bool:
    return any(
        v.op == "method"
        or v.kind == "void"
        or (
            v.op == "call"
            and ((v.kind in DRAWN and v.data.name.endswith(".new")) or v.data.name in _EFFECTS)
        )
        for v in value.walk()
    )


def _mutated(body: list[t.Stmt]) -> set[str]:
    """The names that are assigned anew in statements, outside of functions defined there."""
    found: set[str] = set()

    def visit(node: t.PineNode) -> None:
        if isinstance(node, t.FunctionNode):
            return
        if isinstance(node, t.Assign) and isinstance(node.target, t.Name):
            found.add(node.target.name)
        for child in node.children():
            visit(child)

    for statement in body:
        visit(statement)
    return found


def _assigned(statement: t.Stmt) -> set[str]:
    found = {
        node.name
        for node in statement.walk()
        if isinstance(node, t.FunctionNode | t.TypeOf | t.EnumOf)
    }
    if found:
        return found
    for node in statement.walk():
        if isinstance(node, t.Declare):
            found |= set(node.names)
        elif isinstance(node, t.Assign) and isinstance(node.target, t.Name):
            found.add(node.target.name.split(".")[0])
        elif isinstance(node, t.Import):
            found.add(node.alias)
    return found
