"""Elements at work: objects are claimed, grouped, chosen, decoded, read, attached and keyed.

An element with a violation has failed; what refers to it is skipped. An informational one is left
empty instead, and what was wrong with it becomes a warning.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chartpact.contracts.attachments import Attachment
from chartpact.contracts.bind import Bound
from chartpact.contracts.elements import INFORMATIONAL, SIGNAL, ElementCode
from chartpact.contracts.normalise import NOWHERE, Drawn
from chartpact.contracts.report import CAUGHT, Report

VISITS = 64  # of candidates, for each owner and candidate, before attaching gives up

Instance = list[Any]
Group = tuple[tuple[Any, ...], list[Any]]
Runs = Callable[[list[Any], list[Any]], list[Any]]


class Matching:
    """The instances of every element of one snapshot."""

    def __init__(
        self, bound: Bound, drawn: Mapping[str, Drawn], S: list[Any], report: Report, followed: bool
    ) -> None:
        self.contract, self.functions = bound.contract, bound.functions
        self.drawn, self.S, self.report, self.followed = drawn, S, report, followed
        self.instances: dict[str, list[Instance]] = {}
        self.keys: dict[str, list[tuple[Any, ...]]] = {}
        self.untracked = ""  # why instances cannot be told apart across snapshots
        self.failed: set[str] = set()  # elements, and later machines
        self._claims: dict[str, list[tuple[str, list[Any]]]] = {}
        self._unsure: set[str] = set()  # channels in which some claims are not known

    def run(self, element: ElementCode, skip: bool) -> None:
        """Matches one element; with `skip`, something that it needs is not there."""
        warn, before = element.role == INFORMATIONAL, len(self.report)
        members = None
        if not skip and not element.uses & self.failed:
            members = self._claimed(element, warn)
        if members is None:
            self._unsure.add(element.channel)
            self._publish(element, None)
            return
        if element.base is None:
            self._claims.setdefault(element.channel, []).append((element.name, members))
        made = self._made(element, members, warn)
        if made is not None:
            self._attach(element, made, warn)
            self._identify(element, made, warn)
        self._publish(element, made if len(self.report) == before else None)

    def _publish(self, element: ElementCode, made: list[Instance] | None) -> None:
        if made is None and element.role == SIGNAL:
            self.failed.add(element.name)
        found = self.instances[element.name] = made or []
        places = self.contract.places
        self.S[places[f"L_{element.name}"]] = found
        if element.single:
            self.S[places[f"e_{element.name}"]] = found[0] if found else None

    # ----------------------------------------------------------------------------------- objects

    def behind(self, element: ElementCode, instances: Iterable[Instance]) -> list[Any]:
        """The records that instances are made of."""
        grouped = element.group is not None
        members = [m for each in instances for m in (each[0] if grouped else [each[0]])]
        return self._records(element, members)

    def _records(self, element: ElementCode, members: Sequence[Any]) -> list[Any]:
        if element.base is not None:
            return self.behind(self.contract.elements[element.base], members)
        records = self.drawn[element.channel].records
        return [records[row[0]] for row in members]

    def each(
        self,
        run: Runs,
        items: list[Any],
        path: str,
        records: Callable[[list[Any]], list[Any]],
        warn: bool = False,
    ) -> list[Any] | None:
        """Runs a function over all items; where that fails, over one after the other."""
        try:
            return run(items, self.S)
        except CAUGHT:
            pass
        for item in items:
            try:
                run([item], self.S)
            except CAUGHT as error:
                about = getattr(error, "members", None)
                self.report.trouble(error, path, records([item] if about is None else about), warn)
        return None

    def each_instance(
        self, run: Runs, element: ElementCode, path: str, warn: bool = False
    ) -> list[Any] | None:
        """Runs a function over the instances of an element."""
        items = self.instances[element.name]
        return self.each(run, items, path, lambda some: self.behind(element, some), warn)

    # ----------------------------------------------------------------------------------- instances

    def _claimed(self, element: ElementCode, warn: bool) -> list[Any] | None:
        base = element.base
        items: list[Any]
        items = self.drawn[element.channel].rows if base is None else self.instances[base]
        if not element.where:
            return items
        run = self.functions[f"where_{element.name}"]
        path = f"elements.{element.name}.where"
        return self.each(run, items, path, lambda some: self._records(element, some), warn)

    def _made(self, element: ElementCode, members: list[Any], warn: bool) -> list[Instance] | None:
        path, grouped = f"elements.{element.name}", element.group is not None
        items: list[Any] | None = members
        if grouped:
            items = self._groups(element, members, warn)
        elif element.newest is not None and members:
            items = self._newest(element, members, warn)
        if items is None:
            return None

        def records(some: list[Any]) -> list[Any]:
            whole = [each for _, inside in some for each in inside] if grouped else some
            return self._records(element, whole)

        low, high = element.spec.count
        if len(items) < low or (high is not None and len(items) > high):
            few = len(items) < low
            wanted = f"{low}" if low == high else f"at least {low}" if few else f"at most {high}"
            self.report.add(
                "missing" if few else "duplicate",
                f"{path}.count",
                f"{len(items)} found, {wanted} expected",
                () if few else records(items),
                warn=warn,
            )
            return None
        if element.ignored:
            return []
        build = self.functions[f"build_{element.name}"]
        try:
            made: list[Instance] = build(items, self.S)
            return made
        except CAUGHT:
            pass
        for item in items:
            try:
                build([item], self.S)
            except CAUGHT as error:
                chosen = getattr(error, "members", None)
                about = records([item]) if chosen is None else self._records(element, chosen)
                self.report.trouble(error, path, about, warn)
        return None

    def _groups(self, element: ElementCode, members: list[Any], warn: bool) -> list[Group] | None:
        groups: dict[tuple[Any, ...], list[Any]] = {}
        for key, member in zip(
            self.functions[f"group_{element.name}"](members, self.S), members, strict=True
        ):
            if key in groups:
                groups[key].append(member)
            else:
                groups[key] = [member]
        newest, found = element.newest, list(groups.items())
        if newest is not None and any(key[newest] != NOWHERE for key, _ in found):
            top = max(key[newest] for key, _ in found)
            found = [(key, inside) for key, inside in found if key[newest] == top]
        anchors = element.group or ()
        lost = [inside for key, inside in found if any(key[at] == NOWHERE for at in anchors)]
        for inside in lost:
            self.report.add(
                "unavailable",
                f"elements.{element.name}.group",
                "objects outside the loaded history cannot be told apart",
                self._records(element, inside),
                warn=warn,
            )
        return None if lost else found

    def _newest(self, element: ElementCode, members: list[Any], warn: bool) -> list[Any] | None:
        path, run = f"elements.{element.name}.newest", self.functions[f"newest_{element.name}"]
        values = self.each(run, members, path, lambda some: self._records(element, some), warn)
        if values is None:
            return None
        top = max(values)
        if top == NOWHERE:
            told = "every object lies outside the loaded history"
            about = self._records(element, members)
            self.report.add("unavailable", path, told, about, warn=warn)
            return None
        return [member for member, value in zip(members, values, strict=True) if value == top]

    # ------------------------------------------------------------------------------ attach and key

    def _attach(self, element: ElementCode, made: list[Instance], warn: bool) -> None:
        for attachment in element.attachments:
            other = self.contract.elements[attachment.candidates]
            candidates = self.instances[other.name]
            found = self._candidates(element, other, attachment, made, warn)
            if found is None:
                continue
            path = f"elements.{element.name}.attach.{attachment.name}"
            for owner, several in zip(made, found, strict=True):
                if len(several) == 1:
                    owner[attachment.slot] = several[0]
                elif several:
                    about = self.behind(element, [owner]) + self.behind(other, several)
                    told = f"{len(several)} of {other.name} fit equally"
                    self.report.add("ambiguous", path, told, about, warn=warn)
                elif attachment.required:
                    told, about = f"no {other.name} belongs to this", self.behind(element, [owner])
                    self.report.add("missing", path, told, about, warn=warn)
            if attachment.exclusive:
                self._one_to_one(other, found, candidates, path, warn)

    def _candidates(
        self,
        element: ElementCode,
        other: ElementCode,
        attachment: Attachment,
        made: list[Instance],
        warn: bool,
    ) -> list[list[Instance]] | None:
        run = self.functions[f"attach_{element.name}_{attachment.name}"]
        path = f"elements.{element.name}.attach.{attachment.name}"
        candidates = self.instances[other.name]
        budget = [VISITS * (len(made) + len(candidates))]
        try:
            found: list[list[Instance]] = run(made, candidates, budget, self.S)
            return found
        except CAUGHT as error:
            trouble: Exception = error
        if budget[0] < 0:
            self.report.trouble(trouble, path, warn=warn)
            return None
        before = len(self.report)
        for each in candidates:  # first those that cannot even be searched
            self._try(run, [], [each], path, self.behind(other, [each]), warn)
        if len(self.report) == before:
            for each in made:
                self._try(run, [each], candidates, path, self.behind(element, [each]), warn)
        return None

    def _try(
        self,
        run: Callable[..., Any],
        owners: list[Instance],
        candidates: list[Instance],
        path: str,
        about: list[Any],
        warn: bool,
    ) -> None:
        try:
            run(owners, candidates, [VISITS * (1 + len(candidates))], self.S)
        except CAUGHT as error:
            self.report.trouble(error, path, about, warn)

    def _one_to_one(
        self,
        other: ElementCode,
        found: list[list[Instance]],
        candidates: list[Instance],
        path: str,
        warn: bool,
    ) -> None:
        owners: dict[int, int] = {}
        for several in found:
            for each in several:
                owners[id(each)] = owners.get(id(each), 0) + 1
        for candidate in candidates:
            count = owners.get(id(candidate), 0)
            if count != 1:
                kind = "ambiguous" if count else "missing"
                told = f"this {other.name} belongs to {count or 'nothing'}"
                told += " at once" if count else ""
                self.report.add(kind, path, told, self.behind(other, [candidate]), warn=warn)

    def _identify(self, element: ElementCode, made: list[Instance], warn: bool) -> None:
        if not element.key or not self.followed:
            return
        path, run = f"elements.{element.name}.key", self.functions[f"key_{element.name}"]
        try:
            keys = run(made, self.S)
        except CAUGHT as error:
            if getattr(error, "placed", False):  # it can be read, only not be followed
                self.untracked = self.untracked or f"{path}: {error}"
                return
            keys = self.each(run, made, path, lambda some: self.behind(element, some), warn)
        if keys is None:
            return
        self.keys[element.name] = keys
        if len(set(keys)) == len(keys):
            return
        seen: dict[tuple[Any, ...], list[Instance]] = {}
        for key, instance in zip(keys, made, strict=True):
            seen.setdefault(key, []).append(instance)
        for key, several in seen.items():
            if len(several) > 1:
                told = f"{len(several)} have the key {', '.join(map(str, key))}"
                about = self.behind(element, several)
                self.report.add("duplicate", path, told, about, warn=warn)

    # ----------------------------------------------------------------------------------- unclaimed

    def check_claims(self) -> None:
        """Every object of a signal channel is claimed by exactly one element."""
        for channel, role in self.contract.file.channels.items():
            if role != SIGNAL or channel in self._unsure or channel not in self.drawn:
                continue
            drawn, claims = self.drawn[channel], self._claims.get(channel, [])
            numbers = [row[0] for _, rows in claims for row in rows]
            if len(numbers) == len(drawn.rows) == len(set(numbers)):
                continue
            owners: dict[int, list[str]] = {}
            for name, rows in claims:
                for row in rows:
                    owners.setdefault(row[0], []).append(name)
            path = f"channels.{channel}"
            for number, record in enumerate(drawn.records):
                mine = owners.get(number, [])
                if not mine:
                    self.report.add("unexpected", path, "no element claims this", [record])
                elif len(mine) > 1:
                    told = f"{' and '.join(mine)} both claim this"
                    self.report.add("ambiguous", path, told, [record])
