"""Which drawn fields reach a state, an edge case or the output, under one configuration.

The table is made from the contract alone. A field counts where a change of it must be noticed: in
a condition that is known to hold (that of an element which claimed the object) or known not to hold
(an edge case of a good reading), in what is observed, and in what is given out. `every` says that
each change must be noticed; elsewhere, as behind a comparison of order, only one that goes far
enough. A field in a part of a condition that another part may overrule is `unsure`: it should be
noticed in some example. What a configuration switches off does not reach.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chartpact.contracts.compile import Contract
from chartpact.contracts.elements import ElementCode
from chartpact.contracts.expressions import Compiled
from chartpact.contracts.scope import Need, Rows

GIVEN = "given"  # a condition whose value is itself looked at: it matters that it flips
Truth = bool | str | None


@dataclass(frozen=True)
class Target:
    """A field of an element's objects, or of one part of them."""

    element: str
    part: str | None
    need: Need
    alpha: bool
    every: bool
    via: str  # the expression that mentions it
    referrer: str | None = None  # another element, whose instances the mention depends on
    attachment: str | None = None  # it reaches only for what is attached under this name
    beside: str | None = None  # it reaches only where this part of the group is there
    unsure: bool = False

    def __str__(self) -> str:
        part = f".{self.part}" if self.part else ""
        field = f"alpha({self.need.field})" if self.alpha else self.need.field
        return f"{self.element}{part}.{field}"


@dataclass(frozen=True)
class _Mention:
    path: str
    alpha: bool
    every: bool
    unsure: bool = False


def targets(contract: Contract, values: Mapping[str, Any]) -> list[Target]:
    """The table of reaching fields."""
    return list(dict.fromkeys(_Targets(contract, values).run()))


class _Targets:
    def __init__(self, contract: Contract, values: Mapping[str, Any]) -> None:
        self.contract, self.values = contract, values
        self._reading: set[tuple[str, str, bool, str | None]] = set()  # against endless descent

    def run(self) -> Iterator[Target]:
        contract = self.contract
        for name, element in contract.elements.items():
            if not element.ignored:
                yield from self._element(name, element)
        for name, machine in contract.machines.items():
            for each in machine.spec.observe:
                yield from self._mentions(f"states.{name}.observe.{each}", machine.element, GIVEN)
        for name, edge in contract.edges.items():
            if edge.spec.violation != "config":
                yield from self._mentions(f"edge_cases.{name}.when", edge.spec.each, False)
        for path in contract.expressions:
            if path.startswith("output."):
                owner, given = self._place(path)
                if given:
                    yield from self._mentions(path, owner, GIVEN)

    def _place(self, path: str) -> tuple[str | None, bool]:
        """The element whose names stand bare at a place of the output; whether it is given out."""
        node: Any = self.contract.file.output
        owner, given = None, True
        for step in path.split(".")[1:]:
            listed = isinstance(node, Mapping) and "from" in node
            if listed:
                owner = owner or str(node["from"])
            given = not (listed and step in ("sort", "where"))
            node = node.get(step) if isinstance(node, Mapping) else None
        return owner, given

    def _element(self, name: str, element: ElementCode) -> Iterator[Target]:
        spec, path = element.spec, f"elements.{name}"
        yield from self._mentions(f"{path}.where", name, True)
        for each in spec.group or ():
            yield from self._grouped(name, element, each)
        if spec.newest is not None and spec.group is None:
            yield from map(_weaker, self._mentions(f"{path}.newest", name, True))
        for part, rule in (spec.parts or {}).items():
            for way in ("highest", "lowest"):
                yield from map(_weaker, self._mentions(f"{path}.parts.{part}.{way}", name, True))
            if rule.where is not None:
                mentioned = self._mentions(f"{path}.parts.{part}.where", name, True, part)
                yield from (replace(target, beside=part) for target in mentioned)
        yield from map(_weaker, self._mentions(f"{path}.decode.of", name, True))
        for attached, attach in spec.attach.items():
            at = f"{path}.attach.{attached}"
            for each in attach.within:
                via = f"{at}.within"
                for target in self._mentions(f"{via}.{each}", attach.from_, True):
                    yield replace(_weaker(target), referrer=name, attachment=attached)
                for end in (0, 1):
                    bound = self._mentions(f"{via}.{each}.{end}", name, True, attachment=attached)
                    yield from map(_weaker, bound)
            yield from self._mentions(f"{at}.where", name, True, attachment=attached)

    def _grouped(self, name: str, element: ElementCode, key: str) -> Iterator[Target]:
        """The fields behind a key of a group: a drawn one, or a reading of what a view looks at."""
        field = Rows(element.channel).get(key)
        if field is None:
            yield from self._read(name, key, True, None, None)
            return
        for need in sorted(field.needs, key=str):
            drawn = need.field == key  # what a derived key is made of may change without it
            via = f"elements.{name}.group"
            yield Target(name, None, need, False, drawn, via, unsure=not drawn)

    # -------------------------------------------------------------------------------- expressions

    def _mentions(
        self,
        path: str,
        own: str | None,
        truth: Truth,
        part: str | None = None,
        attachment: str | None = None,
    ) -> Iterator[Target]:
        found = self.contract.expressions.get(path)
        if found is not None:
            yield from self._expression(found, path, own, truth, part, attachment)

    def _expression(
        self,
        found: Compiled,
        path: str,
        own: str | None,
        truth: Truth,
        part: str | None,
        attachment: str | None = None,
    ) -> Iterator[Target]:
        boolean = found.kind.name == "bool"
        walk = self._condition(found.tree, truth) if boolean else self._value(found.tree, truth)
        for mention in walk:
            yield from self._resolved(found, mention, path, own, part, attachment)

    def _resolved(
        self,
        found: Compiled,
        mention: _Mention,
        path: str,
        own: str | None,
        part: str | None,
        attachment: str | None,
    ) -> Iterator[Target]:
        reference = found.references.get(mention.path)
        if reference is None:
            return
        owner = reference.element or own
        if owner is None or owner not in self.contract.elements:
            return
        elsewhere = reference.element is not None and reference.element != own
        referrer = own if elsewhere and path.startswith("elements.") else None
        if elsewhere and attachment is None and own in self.contract.elements:
            attachment = self._attached(own, mention.path)
            referrer = own if attachment else referrer
        if not reference.needs:
            for target in self._read(owner, reference.name, mention.every, referrer, attachment):
                yield replace(target, unsure=target.unsure or mention.unsure)
            return
        steps = mention.path.split(".")
        chosen = part
        parts = self.contract.elements[owner].parts
        for step in steps[:-1]:
            chosen = step if step in parts else chosen
        for need in sorted(reference.needs, key=str):
            # The other edge of a box matters only where it would pass this one.
            across = need.channel == "boxes" and {need.field, reference.name} == {"top", "bottom"}
            yield Target(
                owner, chosen, need, mention.alpha, mention.every and not across, path, referrer,
                attachment, unsure=mention.unsure or across,
            )  # fmt: skip

    def _attached(self, own: str | None, path: str) -> str | None:
        first = path.split(".", maxsplit=1)[0]
        spec = self.contract.elements[own or ""].spec
        return first if first in spec.attach else None

    def _read(
        self,
        element: str,
        name: str,
        every: bool,
        referrer: str | None,
        attachment: str | None,
    ) -> Iterator[Target]:
        """What a reading is made of; `decode.of` stands for decoded fields."""
        at: str | None = element
        while at is not None and name not in self.contract.elements[at].spec.reads:
            at = self.contract.elements[at].base
        reading = (at or "", name, every, attachment)
        if at is None or reading in self._reading:
            return
        self._reading.add(reading)
        for target in self._mentions(f"elements.{at}.reads.{name}", at, GIVEN):
            found = target if every else _weaker(target)
            if found.element == at and found.part is None:
                found = replace(found, element=element)  # what the view kept of it
            yield replace(found, referrer=referrer, attachment=attachment)
        self._reading.discard(reading)

    # ------------------------------------------------------------------------------------- values

    def _value(self, node: ast.expr, truth: Truth, every: bool = True) -> Iterator[_Mention]:
        match node:
            case ast.Name() | ast.Attribute():
                yield _Mention(ast.unparse(node), False, every)
            case ast.BinOp():
                kept = every and isinstance(node.op, ast.Add | ast.Sub)
                yield from self._value(node.left, truth, kept)
                yield from self._value(node.right, truth, kept)
            case ast.UnaryOp(op=ast.USub()):
                yield from self._value(node.operand, truth, every)
            case ast.Call():
                yield from self._call(node, truth)
            case ast.IfExp():
                known = self._config(node.test)
                if known is None:
                    yield from self._condition(node.test, GIVEN)
                else:
                    yield from self._value(node.body if known else node.orelse, truth, every)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp():
                yield from self._condition(node, truth)

    def _call(self, node: ast.Call, truth: Truth) -> Iterator[_Mention]:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        for argument in node.args:
            if name == "alpha":
                yield _Mention(ast.unparse(argument), True, False)
            elif isinstance(argument, ast.ListComp):
                tests = argument.generators[0].ifs
                open_ = bool(tests) or name in ("any", "all")  # others may decide in its place
                if name != "len":  # how many there are does not depend on what is listed
                    for mention in self._value(argument.elt, truth, False):
                        yield replace(mention, unsure=mention.unsure or open_)
                for test in tests:
                    yield from self._condition(test, None)
            else:
                yield from self._value(argument, truth, False)

    def _condition(self, node: ast.expr, truth: Truth) -> Iterator[_Mention]:
        if self._config(node) is not None:
            return
        if truth is None:
            for mention in self._condition(node, GIVEN):
                yield replace(mention, every=False, unsure=True)
            return
        match node:
            case ast.BoolOp():
                yield from self._and_or(node, truth)
            case ast.UnaryOp(op=ast.Not()):
                flipped = (not truth) if isinstance(truth, bool) else truth
                yield from self._condition(node.operand, flipped)
            case ast.Compare():
                yield from self._compare(node, truth)
            case ast.IfExp():
                known = self._config(node.test)
                if known is None:
                    for branch in (node.test, node.body, node.orelse):
                        yield from self._condition(branch, None)
                else:
                    yield from self._condition(node.body if known else node.orelse, truth)
            case ast.Name() | ast.Attribute():
                yield _Mention(ast.unparse(node), False, False)
            case ast.Call():
                yield from self._call(node, truth)

    def _and_or(self, node: ast.BoolOp, truth: Truth) -> Iterator[_Mention]:
        both = isinstance(node.op, ast.And)
        open_ = []
        for each in node.values:
            known = self._config(each)
            if known is not None and known is not both:
                return  # the configuration decides it
            if known is None:
                open_.append(each)
        inner: Truth = truth if len(open_) == 1 or truth is both else None
        for each in open_:
            yield from self._condition(each, inner)

    def _compare(self, node: ast.Compare, truth: Truth) -> Iterator[_Mention]:
        op, right = node.ops[0], node.comparators[0]
        equal = (isinstance(op, ast.Eq) and truth is True) or (
            isinstance(op, ast.NotEq) and truth is False
        )
        yield from self._value(node.left, truth, equal)
        for each in right.elts if isinstance(right, ast.List) else [right]:
            yield from self._value(each, truth, equal)

    def _config(self, node: ast.expr) -> Any:
        """The value of an expression over the configuration alone; None where it needs more."""
        try:
            return bool(_evaluate(node, self.values))
        except LookupError:
            return None


def _evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name(id="none"):
            return None
        case ast.Name(id="true" | "false"):
            return node.id == "true"
        case ast.Name() if node.id in values:
            return values[node.id]
        case ast.UnaryOp(op=ast.Not()):
            return not _evaluate(node.operand, values)
        case ast.BoolOp():
            found = [_evaluate(each, values) for each in node.values]
            return all(found) if isinstance(node.op, ast.And) else any(found)
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            same = _evaluate(node.left, values) == _evaluate(right, values)
            return same if isinstance(op, ast.Eq) else not same
    raise LookupError


def _weaker(target: Target) -> Target:
    return replace(target, every=False)
