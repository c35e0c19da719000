"""Elements at work: objects are claimed, grouped, chosen, decoded, read, attached and keyed.

The elements of a contract are taken in the order in which they refer to each other. For each one:

1. Claim. `where` of every element of a channel is asked of every row. A row that two elements claim
   is ambiguous, one that none claims is unclaimed; both are violations of the channel.
2. Group. An element of several objects puts rows with equal keys together, and chooses its parts
   from each group: the highest, the lowest, or the one that a condition names. Ties and leftovers
   are violations, never a choice of the engine.
3. Keep. `newest` and `top` keep the greatest of each owner. What Pine's cap on objects evicted is
   dropped here: of the groups that lost a part, those no newer than the oldest whole one.
4. Decode and read. Texts become fields, expressions become values of an instance.
5. Attach. Each instance finds the candidates of another element that fit it. Candidates are sorted
   by their sides once, so that an owner looks at those in reach and not at all of them; VISITS
   bounds how many these may be. Two that fit equally are ambiguous.
6. Key. Instances get the key by which a follower knows them again. Two of one key are duplicates.

Each step runs generated code over the whole list, so that no object costs a call. Where that
raises, the step is run again for one item after the other, to find those to blame.

An element with a violation has failed; what refers to it is skipped. An informational one is left
empty instead, and what was wrong with it becomes a warning.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from chartpact.contracts.check.elements import INFORMATIONAL, SIGNAL, Attachment, ElementPlan
from chartpact.contracts.language.values import Slot
from chartpact.contracts.reading.bind import CAUGHT, Bound, ReadingReport
from chartpact.contracts.reading.nearmisses import NearMisses
from chartpact.contracts.reading.normalise import NOWHERE, ChannelRows

VISITS = 64  # of candidates, for each owner and candidate, before attaching gives up

Instance = list[Any]
Group = tuple[tuple[Any, ...], list[Any]]


def _keep_greatest(
    items: list[Any], owners: list[Any], values: list[Any], top: int | None
) -> list[Any]:
    """For each owner, the items with the greatest value, or one of the `top` greatest."""
    by_owner: dict[Any, set[Any]] = {}
    for owner, value in zip(owners, values, strict=True):
        by_owner.setdefault(owner, set()).add(value)
    least = {
        owner: max(distinct) if not top else sorted(distinct)[-top:][0]
        for owner, distinct in by_owner.items()
    }
    return [
        item
        for item, owner, value in zip(items, owners, values, strict=True)
        if value >= least[owner]
    ]


class Matching:
    """The instances of every element of one snapshot."""

    def __init__(
        self,
        bound: Bound,
        drawn: Mapping[str, ChannelRows],
        slots: list[Any],
        report: ReadingReport,
        followed: bool,
        full: Set[str] = frozenset(),
    ) -> None:
        self.contract, self.functions = bound.contract, bound.functions
        self.drawn, self.slots, self.report, self.followed = drawn, slots, report, followed
        self.instances: dict[str, list[Instance]] = {}
        self.keys: dict[str, list[tuple[Any, ...]]] = {}
        self.untracked = ""  # why instances cannot be told apart across snapshots
        self.failed: set[str] = set()  # elements, and later machines
        self.evicted: Counter[str] = Counter()  # element → instances that lost something to a cap
        self.near = NearMisses(bound, slots, self._candidates_for)
        self._full = full  # the channels that stand at their cap
        self.claims: dict[str, list[tuple[str, list[Any]]]] = {}
        self._unsure: set[str] = set()  # channels in which some claims are not known

    def run(self, element: ElementPlan, skip: bool) -> None:
        """Matches one element; with `skip`, something that it needs is not there."""
        self.report.warn, before = element.role == INFORMATIONAL, len(self.report)
        members = made = None
        if not skip and not element.uses & self.failed:
            members = self._claim(element)
        if members is not None:
            made = self._make(element, members)
        if element.sift is not None:  # decoded fields decide which objects belong to it
            members = None if made is None else [instance[0] for instance in made]
        if members is None:
            self._unsure.add(element.channel)
        elif element.base is None:
            self.claims.setdefault(element.channel, []).append((element.name, members))
        if made is not None:
            self._attach(element, made)
            self._identify(element, made)
        self._publish(element, made if len(self.report) == before else None)
        self.report.warn = False

    def _publish(self, element: ElementPlan, made: list[Instance] | None) -> None:
        if made is None and element.role == SIGNAL:
            self.failed.add(element.name)
        instances = self.instances[element.name] = made or []
        places = self.contract.program.slots
        self.slots[places[Slot("list", element.name)]] = instances
        if element.single:
            self.slots[places[Slot("element", element.name)]] = instances[0] if instances else None

    # ----------------------------------------------------------------------------------- objects

    def behind(self, element: ElementPlan, instances: Iterable[Instance]) -> list[Any]:
        """The records that instances are made of."""
        grouped = element.group is not None
        members = [m for made in instances for m in (made[0] if grouped else [made[0]])]
        return self.records(element, members)

    def claimed(self, element: ElementPlan) -> list[Any]:
        """The records that an element claimed, also those that it made nothing of."""
        claims = self.claims.get(element.channel, [])
        members = [row for name, rows in claims if name == element.name for row in rows]
        return self.records(element, members)

    def records(self, element: ElementPlan, members: Iterable[Any]) -> list[Any]:
        """The records of what instances are made of."""
        if element.base is not None:
            return self.behind(self.contract.elements[element.base], members)
        drawn = self.drawn.get(element.channel)  # none of a channel that was refused
        return [] if drawn is None else [drawn.records[row[0]] for row in members]

    def _each(
        self,
        run: Callable[[list[Any], list[Any]], list[Any]],
        items: list[Any],
        path: str,
        element: ElementPlan,
        records: Callable[[ElementPlan, list[Any]], list[Any]],
    ) -> list[Any] | None:
        """Runs a function over all items; where that fails, over one after the other."""
        try:
            return run(items, self.slots)
        except CAUGHT:
            pass
        for item in items:
            try:
                run([item], self.slots)
            except CAUGHT as error:
                about, chosen = records(element, [item]), getattr(error, "members", None)
                about = about if chosen is None else self.records(element, chosen)
                self.report.trouble(error, path, about)
        return None

    def _each_member(self, word: str, element: ElementPlan, items: list[Any]) -> list[Any] | None:
        """Runs the function of a word of an element over the members of its instances."""
        run, path = self.functions[word, element.name], f"elements.{element.name}.{word}"
        return self._each(run, items, path, element, self.records)

    def each_instance(
        self, run: Callable[..., Any], element: ElementPlan, path: str
    ) -> list[Any] | None:
        """Runs a function over the instances of an element."""
        return self._each(run, self.instances[element.name], path, element, self.behind)

    # ----------------------------------------------------------------------------------- instances

    def _candidates_for(self, element: ElementPlan) -> list[Any]:
        """The items that may be, or become part of, an instance of an element."""
        if element.base is not None:
            return self.instances[element.base]
        return self.drawn[element.channel].rows

    def _claim(self, element: ElementPlan) -> list[Any] | None:
        items = self._candidates_for(element)
        return items if element.where is None else self._each_member("where", element, items)

    def _make(self, element: ElementPlan, members: list[Any]) -> list[Instance] | None:
        path, grouped = f"elements.{element.name}", element.group is not None
        items: list[Any] | None = members
        if grouped:
            items = self._groups(element, members)
        elif element.newest is not None and members:
            items = self._newest(element, members)
        if items is None:
            return None

        def records(element: ElementPlan, items: list[Any]) -> list[Any]:
            whole = [member for _, inside in items for member in inside] if grouped else items
            return self.records(element, whole)

        if not element.late and self._miscounts(element, items, records):
            return None
        if element.ignored:
            return []
        build = self.functions["build", element.name]
        items = self._without_evicted(element, items, build)
        made = self._each(build, items, path, element, records)
        if element.late and made is not None and self._miscounts(element, made, self.behind):
            return None
        return made

    def _ages(self, element: ElementPlan, made: list[Instance]) -> list[Any] | None:
        """The age of each instance, if Pine's cap may have evicted some; else None."""
        if element.age_key is not None:
            return [instance[1 + element.age_key] for instance in made]
        if element.age is not None:
            return self._each_member("age", element, [instance[0] for instance in made])
        return None

    def _without_evicted(
        self, element: ElementPlan, items: list[Any], build: Callable[..., Any]
    ) -> list[Any]:
        """The groups without the oldest ones that lost a member to the cap on objects."""
        if element.age_key is None or element.channel not in self._full:
            return items
        damaged = [self._lacks_part(build, item) for item in items]
        ages = [key[element.age_key] for key, _ in items]
        return self._drop_oldest(element, items, ages, damaged)

    def _lacks_part(self, build: Callable[..., Any], item: Any) -> bool:
        try:
            build([item], self.slots)
        except CAUGHT as error:
            return getattr(error, "kind", "") == "missing"
        return False

    def _drop_oldest(
        self, element: ElementPlan, items: list[Any], ages: list[Any], damaged: list[bool]
    ) -> list[Any]:
        """Items without the damaged ones that are no newer than the oldest whole one."""
        whole = [age for age, is_damaged in zip(ages, damaged, strict=True) if not is_damaged]
        if not whole or not any(damaged):
            return items
        rows = zip(items, ages, damaged, strict=True)
        kept = [item for item, age, is_damaged in rows if not is_damaged or age > min(whole)]
        if len(kept) < len(items):
            self.evicted[element.name] += len(items) - len(kept)
        return kept

    def _miscounts(
        self,
        element: ElementPlan,
        items: list[Any],
        records: Callable[[ElementPlan, list[Any]], list[Any]],
    ) -> bool:
        """Reports that there are too few or too many instances, if so."""
        (low, high), count = element.spec.count, len(items)
        few = count < low
        if not few and (high is None or count <= high):
            return False
        wanted = f"{low}" if low == high else f"at least {low}" if few else f"at most {high}"
        kind = "missing" if few else "duplicate"
        path, message = f"elements.{element.name}.count", f"{count} found, {wanted} expected"
        if few:
            self.report.add(kind, path, message + self.near.nearest(element))
        else:
            self.report.add(kind, path, message, records(element, items))
        return True

    def _groups(self, element: ElementPlan, members: list[Any]) -> list[Group] | None:
        groups: dict[tuple[Any, ...], list[Any]] = {}
        keys = self.functions["group", element.name](members, self.slots)
        for key, member in zip(keys, members, strict=True):
            if key in groups:
                groups[key].append(member)
            else:
                groups[key] = [member]
        newest, items = element.newest_key, list(groups.items())
        if newest is not None:
            owners = [tuple(key[at] for at in element.per_keys) for key, _ in items]
            values = [key[newest] for key, _ in items]
            items = _keep_greatest(items, owners, values, element.spec.top)
        anchors = element.anchors
        lost = [inside for key, inside in items if any(key[at] == NOWHERE for at in anchors)]
        for inside in lost:
            path = f"elements.{element.name}.group"
            message = "objects outside the loaded history cannot be told apart"
            self.report.add("unavailable", path, message, self.records(element, inside))
        return None if lost else items

    def _newest(self, element: ElementPlan, members: list[Any]) -> list[Any] | None:
        values = self._each_member("newest", element, members)
        if values is None:
            return None
        owners = self.functions["per", element.name](members, self.slots)
        kept = _keep_greatest(
            list(zip(members, values, strict=True)), owners, values, element.spec.top
        )
        lost = [member for member, value in kept if value == NOWHERE]
        if lost:
            path = f"elements.{element.name}.newest"
            message = "objects outside the loaded history have no order"
            self.report.add("unavailable", path, message, self.records(element, lost))
            return None
        return [member for member, _ in kept]

    # ------------------------------------------------------------------------------ attach and key

    def _attach(self, element: ElementPlan, made: list[Instance]) -> None:
        for attachment in element.attachments:
            other = self.contract.elements[attachment.candidates]
            path = f"elements.{element.name}.attach.{attachment.name}"
            fitting = self._candidates(element, other, attachment.name, made, path)
            if fitting is None:
                continue
            fitting = self._drop_lonely(element, other, attachment, made, fitting)
            for owner, several in zip(made, fitting, strict=True):
                if attachment.several:
                    owner[attachment.slot] = several
                    self._check_attached(element, other, attachment, owner, path)
                elif len(several) == 1:
                    owner[attachment.slot] = several[0]
                elif several:
                    about = self.behind(element, [owner]) + self.behind(other, several)
                    message = f"{len(several)} of {other.name} fit equally"
                    self.report.add("ambiguous", path, message, about)
                elif attachment.count[0]:
                    message = f"no {other.name} belongs to this"
                    self.report.add("missing", path, message, self.behind(element, [owner]))
            if attachment.exclusive:
                self._one_to_one(other, fitting, path)

    def _drop_lonely(
        self,
        element: ElementPlan,
        other: ElementPlan,
        attachment: Attachment,
        made: list[Instance],
        fitting: list[list[Instance]],
    ) -> list[list[Instance]]:
        """Drops the oldest owners, and the oldest candidates, whose other half was evicted."""
        if not {element.channel, other.channel} & self._full:
            return fitting
        if attachment.count[0] and (ages := self._ages(element, made)) is not None:
            pairs = list(zip(made, fitting, strict=True))
            pairs = self._drop_oldest(element, pairs, ages, [not fits for fits in fitting])
            made[:], fitting = [owner for owner, _ in pairs], [fits for _, fits in pairs]
        candidates = self.instances[other.name]
        if attachment.exclusive and (ages := self._ages(other, candidates)) is not None:
            owned = {id(candidate) for several in fitting for candidate in several}
            lonely = [id(candidate) not in owned for candidate in candidates]
            candidates[:] = self._drop_oldest(other, candidates, ages, lonely)
        return fitting

    def _check_attached(
        self,
        element: ElementPlan,
        other: ElementPlan,
        attachment: Attachment,
        owner: Instance,
        path: str,
    ) -> None:
        """Reports that too few or too many instances belong to an owner, if so."""
        (low, high), several = attachment.count, owner[attachment.slot]
        if len(several) < low:
            message = f"{len(several)} of {other.name} belong to this, at least {low} expected"
            self.report.add("missing", path, message, self.behind(element, [owner]))
        elif high is not None and len(several) > high:
            message = f"{len(several)} of {other.name} belong to this, at most {high} expected"
            about = self.behind(element, [owner]) + self.behind(other, several)
            self.report.add("duplicate", path, message, about)

    def _candidates(
        self, element: ElementPlan, other: ElementPlan, name: str, made: list[Instance], path: str
    ) -> list[list[Instance]] | None:
        """For each owner, the candidates that fit best."""
        run, candidates = self.functions["attach", element.name, name], self.instances[other.name]
        budget = [VISITS * (len(made) + len(candidates))]
        try:
            fitting: list[list[Instance]] = run(made, candidates, budget, self.slots)
            return fitting
        except CAUGHT as error:
            if budget[0] < 0:
                self.report.trouble(error, path)
                return None

        def attempt(owners: list[Instance], some: list[Instance], about: list[Any]) -> None:
            try:
                run(owners, some, [VISITS * (1 + len(some))], self.slots)
            except CAUGHT as error:
                self.report.trouble(error, path, about)

        before = len(self.report)
        for candidate in candidates:  # first those that cannot even be searched
            attempt([], [candidate], self.behind(other, [candidate]))
        if len(self.report) == before:
            for owner in made:
                attempt([owner], candidates, self.behind(element, [owner]))
        return None

    def _one_to_one(self, other: ElementPlan, fitting: list[list[Instance]], path: str) -> None:
        owners = Counter(id(candidate) for several in fitting for candidate in several)
        for candidate in self.instances[other.name]:
            count = owners[id(candidate)]
            if count != 1:
                kind = "ambiguous" if count else "missing"
                whose = f"{count} at once" if count else "nothing"
                message = f"this {other.name} belongs to {whose}"
                self.report.add(kind, path, message, self.behind(other, [candidate]))

    def _identify(self, element: ElementPlan, made: list[Instance]) -> None:
        if element.key is None:
            return
        path, keys = f"elements.{element.name}.key", None
        if self.followed:
            run = self.functions["key", element.name]
            try:
                keys = run(made, self.slots)
            except CAUGHT as error:
                if getattr(error, "placed", False):  # it can be read, only not be followed
                    self.untracked = self.untracked or f"{path}: {error}"
                else:
                    keys = self._each(run, made, path, element, self.behind)
                    if keys is None:
                        return
        if keys is None:  # two that are one are found without their times, too
            keys = self.functions["same", element.name](made, self.slots)
        else:
            self.keys[element.name] = keys
        if len(set(keys)) == len(keys):
            return
        alike: dict[tuple[Any, ...], list[Instance]] = {}
        for key, instance in zip(keys, made, strict=True):
            alike.setdefault(key, []).append(instance)
        for key, several in alike.items():
            if len(several) > 1:
                message = f"{len(several)} have the key {', '.join(map(str, key))}"
                self.report.add("duplicate", path, message, self.behind(element, several))

    # ----------------------------------------------------------------------------------- unclaimed

    def check_claims(self) -> None:
        """Every object of a signal channel is claimed by exactly one element."""
        for channel, role in self.contract.file.channels.items():
            if role != SIGNAL or channel in self._unsure or channel not in self.drawn:
                continue
            drawn, claims = self.drawn[channel], self.claims.get(channel, [])
            numbers = [row[0] for _, rows in claims for row in rows]
            if len(numbers) == len(drawn.rows) == len(set(numbers)):
                continue
            owners: dict[int, list[str]] = {}
            for name, rows in claims:
                for row in rows:
                    owners.setdefault(row[0], []).append(name)
            path = f"channels.{channel}"
            for number, record in enumerate(drawn.records):
                names = owners.get(number, [])
                if not names:
                    near = self.near.claimant(channel, drawn.rows[number])
                    self.report.add("unexpected", path, f"no element claims this{near}", [record])
                elif len(names) > 1:
                    message = f"{' and '.join(names)} both claim this"
                    self.report.add("ambiguous", path, message, [record])
