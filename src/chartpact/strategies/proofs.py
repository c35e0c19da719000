"""The proofs about a strategy whose expressions are checked: each fault has a witness and a remedy.

All are made on one `World` in which nothing is known, so that they hold for every bar there can be.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from chartpact.contracts.check.totality import TotalityProof, spell
from chartpact.contracts.language.document import ContractPath, suggestion
from chartpact.strategies.logic import (
    BLOCKED,
    GRADE,
    LATCHES,
    MAX_LISTED,
    SCORE,
    Array,
    Logic,
    Value,
    Vector,
    World,
    bits,
    condition_codes,
    steps,
)
from chartpact.strategies.model import StrategyFile

MOST_SHOWN = 3  # faults of one kind

Report = Callable[[ContractPath, str, str], None]


def prove(logic: Logic, file: StrategyFile, report: Report) -> None:
    """Makes every proof; `logic.vectors` becomes the latches that can be reached."""
    proofs = _Proofs(logic, file, report)
    if proofs.listable():
        proofs.make()


def format_witness(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {spell(value)}" for name, value in values.items())


class _Proofs:
    def __init__(self, logic: Logic, file: StrategyFile, report: Report) -> None:
        self.logic, self.file, self.report = logic, file, report

    def listable(self) -> bool:
        """Whether everything that is asked for can be listed."""
        logic, before = self.logic, len(self.logic.atoms)
        asked: dict[ContractPath, frozenset[str]] = {}
        for name in logic.tables:
            asked["tables", name] = logic.support(name)
        asked["factors",] = logic.support(SCORE)
        asked["blocks",] = logic.support(BLOCKED)
        if logic.latches:
            names = logic.support(BLOCKED, GRADE) if before else frozenset()
            asked["latches",] = names - {LATCHES}
        fine = True
        for place, support in asked.items():
            if (count := logic.count(support)) > MAX_LISTED:
                message = f"{count} combinations of {len(support)} facts are too many to list"
                self.report(place, message, f"look at fewer facts; at most {MAX_LISTED}")
                fine = False
        return fine

    def make(self) -> None:
        world = World(self.logic, vectors=[(False,) * len(self.logic.latches)])
        self._constants(world)
        self._grades(world)
        held = self._conditions(world)
        taken = list(steps(self.logic, list(held)))
        self.logic.vectors = tuple(sorted({after for _, _, after in taken}))
        for n, name in enumerate(self.logic.latches):
            if not any(vector[n] for vector in self.logic.vectors):
                self._say(("latches", name), "it is never set", "mend set, after or unless")
        world = World(self.logic)
        for name, table in self.file.tables.items():
            if table.transitions is not None and name in self.logic.tables:
                self._transitions(world, name, held, taken)
        self._never(world)
        self._mirror(world)

    def _say(self, place: ContractPath, message: str, hint: str) -> None:
        self.report(place, message, hint)

    # ------------------------------------------------------------------------- blocks and the score

    def _constants(self, world: World) -> None:
        conditions: dict[tuple[str, str, str], Array] = {}
        for name, node in self.logic.blocks.items():
            conditions["blocks", name, "when"] = world.holds(node)
        for name, (node, _) in self.logic.factors.items():
            conditions["factors", name, "when"] = world.holds(node)
        for place, array in conditions.items():
            if array.all() or not array.any():
                always = "always" if array.all() else "never"
                self._say(place, f"{place[1]} holds {always}", "remove it, or mend its when")

    def _grades(self, world: World) -> None:
        grades, place = list(self.logic.grades.items()), ("grades",)
        if not grades:
            return
        leasts = [least for _, least in grades]
        if sorted(set(leasts), reverse=True) != leasts or leasts[-1] != 0:
            message = "grades go from the best to the worst, and the last begins at 0"
            self._say(place, message, "write {A: 7, B: 4, C: 0}")
            return
        if not self.logic.factors:
            self._say(place, "there is no score to grade", "add factors, or remove grades")
            return
        reached, score = world.options(GRADE), world.value(SCORE)
        for grade, least in grades:
            if grade not in reached:
                message = f"no score reaches {grade}: scores go from {score.min()} to {score.max()}"
                self._say((*place, grade), message, f"{least:g} is out of reach: lower it")

    # --------------------------------------------------------------------------- latches and steps

    def _conditions(self, world: World) -> dict[Vector, dict[str, Any]]:
        """The conditions of latches that can hold together, each with facts in which they do."""
        codes, count = condition_codes(world), len(self.logic.latches)
        distinct = np.unique(codes).tolist()
        return {bits(code, count): world.witness(codes == code) or {} for code in distinct}

    def _transitions(
        self,
        world: World,
        name: str,
        held: Mapping[Vector, Mapping[str, Any]],
        taken: Sequence[tuple[Vector, Vector, Vector]],
    ) -> None:
        """Compares the steps that can be taken with those that are declared."""
        table, place = self.file.tables[name], ("tables", name)
        declared = {(a, b) for a, after in (table.transitions or {}).items() for b in after}
        rows = self.logic.tables[name].rows
        for name_of in {*table.initial, *(row for pair in declared for row in pair)} - {*rows}:
            message = f"{name_of!r} is not a row"
            self._say((*place, "transitions"), message, suggestion(name_of, rows))
        shown = self._shown(world, name, held)
        if shown is None:
            message = "what its steps depend on is too much to list"
            self._say(place, message, f"observe fewer facts; at most {MAX_LISTED} combinations")
            return
        start, states = (False,) * len(self.logic.latches), dict[Vector, set[str]]()
        for _, conditions, after in taken:
            states.setdefault(after, set()).update(shown(conditions, after))
        initial = {row for was, c, to in taken if was == start for row in shown(c, to)}
        reached: dict[tuple[str, str], tuple[Vector, Vector, Vector]] = {}
        for step in taken:
            for was in states.get(step[0], ()):
                for now in shown(step[1], step[2]) - {was}:
                    reached.setdefault((was, now), step)
        self._compare_initial({*table.initial}, initial, name)
        for (was, now), (before, conditions, _) in sorted(reached.items()):
            if (was, now) not in declared:
                set_ = [latch for latch, on in zip(self.logic.latches, before, strict=True) if on]
                witness = format_witness(held[conditions]) or "any facts"
                latched = f" with {', '.join(set_)} set" if set_ else ""
                message = f"{was} can be followed by {now}:{latched} and then {witness}"
                hint = f"declare {was}: [{now}], or let a latch forbid it"
                self._say((*place, "transitions"), message, hint)
        for first, second in sorted(declared - reached.keys()):
            if first in rows and second in rows:
                message = f"{first} is never followed by {second}"
                hint = "remove it, or mend the latches"
                self._say((*place, "transitions", first), message, hint)

    def _compare_initial(self, declared: set[str], reached: set[str], name: str) -> None:
        place = ("tables", name, "initial")
        for row in sorted(reached - declared):
            message = f"an epoch can begin with {row}"
            self._say(place, message, "add it to initial, or let a latch forbid it")
        for row in sorted(declared - reached):
            self._say(place, f"no epoch begins with {row}", "remove it, or mend the latches")

    def _shown(
        self, world: World, name: str, held: Mapping[Vector, Any]
    ) -> Callable[[Vector, Vector], set[str]] | None:
        """The rows that conditions and the latches after them can show; None: too many to list."""
        logic = self.logic
        rows = world.value(name)
        if LATCHES not in world.axes:
            rows = rows[..., np.newaxis]
        by_facts = [axis for axis in world.varying(world.value(name)) if axis != LATCHES]
        codes = condition_codes(world)
        size = logic.count(logic.support(name) | set(world.varying(codes)) | {LATCHES})
        if by_facts and size > MAX_LISTED:
            return None
        known: dict[tuple[Vector, Vector], set[str]] = {}
        places = {vector: n for n, vector in enumerate(logic.vectors)}
        texts = {code: text for text, code in logic.codes.items()}
        rules = {vector: sum(on << n for n, on in enumerate(vector)) for vector in held}

        def shown(conditions: Vector, after: Vector) -> set[str]:
            key = (conditions, after)
            if key not in known:
                part = rows.take([places[after]], -1)
                if by_facts:
                    here = codes == rules[conditions]
                    if LATCHES not in world.axes:
                        here = here[..., np.newaxis]
                    shape = np.broadcast_shapes(part.shape, here.shape)
                    part = np.broadcast_to(part, shape)[np.broadcast_to(here, shape)]
                known[key] = {texts[code] for code in np.unique(part).tolist()}
            return known[key]

        return shown

    # ----------------------------------------------------------------------------- never and mirror

    def _never(self, world: World) -> None:
        parse = TotalityProof(self.report).parse_values
        for n, combination in enumerate(self.file.never):
            place: ContractPath = ("never", n)
            if not combination:
                self._say(place, "this forbids everything", "write {table: row, fact: value}")
                continue
            unknown = [name for name in combination if name not in self.logic.names]
            for name in unknown:
                hint = suggestion(name, self.logic.names)
                self._say((*place, name), f"{name!r} is no fact, latch or table", hint)
            if unknown:
                continue
            support = self.logic.support(*combination)
            if self.logic.count(support) > MAX_LISTED:
                self._say(place, "this is too much to list", "name fewer tables and facts")
                continue
            together = ~world.nothing
            for name, written in combination.items():
                domain = self.logic.domain(name)
                values = list(parse(name, written, domain, (*place, name)))
                together = together & world.is_(name, values)
            if (witness := world.witness(together)) is not None:
                message = f"it can happen: {format_witness(witness) or 'always'}"
                self._say(place, message, "forbid it in a row, a block or a latch")

    def _mirror(self, world: World) -> None:
        """Every table, block, factor and latch is the same with the two sides changed over."""
        if not self.file.mirror:
            return
        sides: dict[Value, Value] = {}
        for one, other in self.file.mirror.items():
            for a, b in ((one, other), (other, one)):
                if sides.get(a, b) != b or a == b:
                    self._say(("mirror", one), f"{a} has two mirror images", "keep one")
                    return
                sides[a] = b
        domains = {name: self.logic.domain(name) for name in self.logic.names}
        lone = False
        for name, domain in domains.items():
            for value in domain:
                if value in sides and sides[value] not in domain:
                    message = f"{name} may be {value}, and never {sides[value]}"
                    self._say(("mirror",), message, "a value and its mirror image go together")
                    lone = True
        used = {value for domain in domains.values() for value in domain}
        for one in self.file.mirror:
            if one not in used:
                self._say(("mirror", one), f"nothing is ever {one}", "remove it")
        if lone:
            return
        for name, rule in self.logic.tables.items():
            for values, row in rule.table.items():
                image = rule.table[tuple(sides.get(value, value) for value in values)]
                if image != sides.get(row, row):
                    shown = format_witness(dict(zip(rule.observe, values, strict=True)))
                    message = f"{shown} gives {row}, its mirror image gives {image}"
                    self._say(("tables", name, "rows", row), message, "make both sides alike")
                    break
        self._mirror_conditions(world, sides)

    def _mirror_conditions(self, world: World, sides: Mapping[Value, Value]) -> None:
        conditions: dict[ContractPath, Array] = {}
        for name, node in self.logic.blocks.items():
            conditions["blocks", name, "when"] = world.holds(node)
        for name, (node, _) in self.logic.factors.items():
            conditions["factors", name, "when"] = world.holds(node)
        for name, latch in self.logic.latches.items():
            conditions["latches", name, "set"] = world.holds(latch.set)
        for place, array in conditions.items():
            mirrored = array
            for axis, (name, values) in enumerate(world.axes.items()):
                if name != LATCHES and array.shape[axis] > 1:
                    turned = [values.index(sides.get(value, value)) for value in values]
                    mirrored = mirrored.take(turned, axis)
            if (witness := world.witness(array & ~mirrored)) is not None:
                message = f"{place[1]} holds with {format_witness(witness)}, and not mirrored"
                self._say(place, message, "make both sides alike")


def idle(names: Iterable[str], used: Iterable[str]) -> list[str]:
    """The names that nothing looks at."""
    seen = set(used)
    return [name for name in names if name not in seen]
