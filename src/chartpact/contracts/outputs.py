"""The typed output: nested maps of expressions, and lists or objects made of instances."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from chartpact.contracts.context import Context, path_of
from chartpact.contracts.document import Place
from chartpact.contracts.elements import ElementCode
from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions import Compiled
from chartpact.contracts.kinds import Kind
from chartpact.contracts.model import OutputList, expression_text, problems_of
from chartpact.contracts.scope import NOTHING, Needs, Scope, Value

_JSON_KINDS = ("number", "text", "bool", "enum", "color", "time", "none")
_SORTED = ("number", "time", "anchor", "text")


@dataclass(frozen=True)
class Leaf:
    """One value."""

    kind: Kind
    function: str = ""


@dataclass(frozen=True)
class Map:
    """An object with fixed keys."""

    items: Mapping[str, "Node"]


@dataclass(frozen=True)
class Many:
    """A list of objects, in the order of `sort`; split, one such list for each name."""

    element: str
    function: str
    give: Map
    split: tuple[str, ...] = ()


@dataclass(frozen=True)
class One:
    """An object made of what occurs at most once, or null."""

    element: str
    function: str
    give: Map
    nullable: bool = True


Node = Leaf | Map | Many | One


@dataclass
class OutputCode:
    """The output as the engine runs it."""

    root: Map
    uses: frozenset[str] = frozenset()
    needs: Needs = NOTHING
    nodes: Mapping[str, int] = field(default_factory=dict)  # element → nodes run for an instance
    asked: Mapping[str, Needs] = field(default_factory=dict)  # element → what giving it out needs


class OutputCompiler:
    """Compiles the output section."""

    def __init__(self, context: Context, elements: Mapping[str, ElementCode], scope: Scope) -> None:
        self.context, self.elements, self.scope = context, elements, scope
        self.uses: set[str] = set()
        self.needs: set[object] = set()
        self.nodes: dict[str, int] = {}
        self.asked: dict[str, Needs] = {}
        self._functions = 0

    def compile(self, written: Mapping[str, Any]) -> OutputCode:
        root = self._map(written, ("output",))
        needs: Needs = frozenset(self.needs)  # type: ignore[arg-type]
        return OutputCode(root, frozenset(self.uses), needs, self.nodes, self.asked)

    def _map(self, written: Any, place: Place) -> Map:
        if not isinstance(written, dict) or not written:
            self.context.problem(place, "a mapping of names to expressions belongs here", "{a: …}")
            return Map({})
        items: dict[str, Node] = {}
        for name, inside in written.items():
            at = (*place, name)
            if not name.isidentifier() or not name.isascii() or name.startswith("_"):
                self.context.problem(
                    at, f"{name!r:.60} is not a name for a value", "use letters, digits and _"
                )
                continue
            if isinstance(inside, dict) and "from" in inside:
                items[name] = self._from(inside, at)
            elif isinstance(inside, dict):
                items[name] = self._map(inside, at)
            else:
                items[name] = self._leaf(inside, at)
        return Map(items)

    def _leaf(self, text: Any, place: Place) -> Leaf:
        found = self._expression(text, place, self.scope)
        for element in found.elements:
            self._ask(element, found)
        name = self._name()
        self.context.module.function(name, "S", found.free)
        self.context.module.line(f"return {found.code}", path_of(place))
        return Leaf(found.kind, name)

    def _name(self) -> str:
        self._functions += 1
        return f"output_{self._functions}"

    def _expression(self, text: Any, place: Place, scope: Scope) -> Compiled:
        if isinstance(text, list):
            self.context.problem(place, "a list has no order here", "write {from, sort, give}")
            text = None
        try:
            written = expression_text(text)
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            self.context.problem(place, message, hint)
            written = "none"
        found = self.context.expression(written, place, scope)
        if found.kind.known and found.kind.name not in _JSON_KINDS:
            hint = "give its .time or .bar" if found.kind.name == "anchor" else "give its fields"
            if found.kind.name == "list":
                hint = "a list needs an order: write {from, sort, give}"
            self.context.problem(place, f"{found.kind} is not a JSON value", hint)
        self._took(found)
        return found

    def _took(self, found: Compiled) -> None:
        self.uses |= found.elements
        self.needs |= found.needs

    def _ask(self, element: str, *given: Compiled) -> None:
        self.asked[element] = self.asked.get(element, NOTHING).union(
            *(each.needs for each in given)
        )

    # --------------------------------------------------------------------------------- instances

    def _read_list(self, written: Any, place: Place) -> OutputList | None:
        try:
            return OutputList.model_validate(written)
        except ValidationError as error:
            self.context.problems += problems_of(error, self.context.root, place)
            return None

    def _from(self, written: Mapping[str, Any], place: Place) -> Node:
        spec = self._read_list(written, place)
        if spec is None:
            return Map({})
        element = self.elements.get(spec.from_)
        if element is None or element.ignored:
            known = [name for name, each in self.elements.items() if not each.ignored]
            self.context.problem(
                (*place, "from"), f"{spec.from_!r} is not an element", suggestion(spec.from_, known)
            )
            return Map({})
        self.uses.add(element.name)
        scope = Scope(self.scope.names).owned_by(element.shape, "i")
        free: set[str] = set()
        before = len(self.context.expressions)
        head = self._head(spec, element, place, scope, free)
        lines: list[tuple[str, str, int]] = []
        give = self._give(spec.give, (*place, "give"), scope, lines, 3, free)
        inside = list(self.context.expressions.values())[before:]
        self.nodes[element.name] = self.nodes.get(element.name, 0) + sum(
            each.nodes for each in inside
        )
        self._ask(element.name, *inside)
        name = self._emit(place, head, lines, free)
        if element.single:
            return One(element.name, name, give)
        return Many(element.name, name, give, head.split)

    def _head(
        self, spec: OutputList, element: ElementCode, place: Place, scope: Scope, free: set[str]
    ) -> "_Head":
        head = _Head()
        if spec.where is not None:
            at = (*place, "where")
            found = self.context.condition(spec.where, at, scope)
            self._took(found)
            free |= found.free
            head.where = found.code
        if element.single and spec.split is not None:
            self.context.problem(
                (*place, "split"), f"{element.name} occurs at most once", "remove split"
            )
        if spec.sort is None:
            if not element.single:
                self.context.problem(place, "sort is missing", "add `sort: x1`, or another order")
        else:
            at = (*place, "sort")
            found = self.context.expression(spec.sort, at, scope)
            self._took(found)
            self.context.want(found, at, *_SORTED)
            free |= found.free
            head.sort = found.code
        if spec.split is not None:
            at = (*place, "split")
            found = self.context.expression(spec.split, at, scope)
            self._took(found)
            if self.context.want(found, at, "enum"):
                head.split = found.kind.names
            head.by = found.code
            free |= found.free
        return head

    def _emit(
        self,
        place: Place,
        head: "_Head",
        lines: list[tuple[str, str, int]],
        free: set[str],
    ) -> str:
        name, module = self._name(), self.context.module
        module.function(name, "items, S", free)
        module.line("return [")
        module.line("(", indent=2)
        module.line(f"{head.sort},", path_of((*place, "sort")), indent=3)
        module.line(f"{head.by},", path_of((*place, "split")), indent=3)
        for code, path, indent in lines:
            module.line(code, path, indent)
        module.line(")", indent=2)
        module.line("for i in items", indent=2)
        if head.where:
            module.line(f"if {head.where}", path_of((*place, "where")), indent=2)
        module.line("]")
        return name

    def _give(
        self,
        written: Any,
        place: Place,
        scope: Scope,
        lines: list[tuple[str, str, int]],
        indent: int,
        free: set[str],
    ) -> Map:
        """The object made of one instance, as lines of a dict display."""
        items: dict[str, Node] = {}
        lines.append(("{", "", indent))
        if not isinstance(written, dict) or not written:
            self.context.problem(place, "a mapping of names to expressions belongs here", "{a: …}")
            written = {}
        for name, inside in written.items():
            at = (*place, name)
            if not name.isidentifier() or not name.isascii() or name.startswith("_"):
                self.context.problem(at, f"{name!r:.60} is not a name for a value", "use letters")
                continue
            if isinstance(inside, dict) and "from" in inside:
                lines.append((f"{name!a}:", "", indent + 1))
                items[name] = self._attached(inside, at, scope, lines, indent + 1, free)
            elif isinstance(inside, dict):
                lines.append((f"{name!a}:", "", indent + 1))
                items[name] = self._give(inside, at, scope, lines, indent + 1, free)
            else:
                found = self._expression(inside, at, scope)
                free |= found.free
                lines.append((f"{name!a}: {found.code},", path_of(at), indent + 1))
                items[name] = Leaf(found.kind)
        lines.append(("},", "", indent))
        return Map(items)

    def _attached(
        self,
        written: Mapping[str, Any],
        place: Place,
        scope: Scope,
        lines: list[tuple[str, str, int]],
        indent: int,
        free: set[str],
    ) -> Node:
        spec = self._read_list(written, place)
        found = scope.get(spec.from_) if spec is not None else None
        if spec is not None and (found is None or found.kind.shape is None):
            self.context.problem(
                (*place, "from"),
                f"{spec.from_!r} is not attached here",
                "name an attachment of the element, or an element that occurs at most once",
            )
        if spec is None or found is None or found.kind.shape is None:
            lines.append(("None,", "", indent))
            return Map({})
        for word in ("sort", "split", "where"):
            if getattr(spec, word) is not None:
                self.context.problem(
                    (*place, word), f"{spec.from_} occurs at most once here", f"remove {word}"
                )
        if found.code[:2] == "e_":
            free.add(found.code)
        if found.element is not None:
            self.uses.add(found.element)
        there = Value(found.kind.there(), found.code, element=found.element)
        lines.append((f"None if {found.code} is None else", path_of(place), indent))
        give = self._give(
            spec.give, (*place, "give"), scope.narrowed(spec.from_, there), lines, indent, free
        )
        return One(found.element or spec.from_, "", give, found.kind.nullable)


@dataclass
class _Head:
    """The words of a list beside what it gives, as code."""

    where: str = ""
    sort: str = "None"
    by: str = "None"
    split: tuple[str, ...] = ()
