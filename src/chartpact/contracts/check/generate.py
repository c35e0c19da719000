"""The program of a contract: its checked sections and typed nodes as Python code.

This is the one place where nodes become text. The code consists of index lookups on rows, numbered
variables, and literals written anew; nothing of the author's text reaches it otherwise. There is
one function for each step of a reading, found by what it is for, as in `("where", element)`. It
works on whole lists, so that no object costs a call, and takes `S`, the list of everything the
reading has found so far. A line that raises is found again by its number, so that finding the place
in the contract costs nothing while all goes well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from chartpact.contracts.check.elements import INSTANCE, Attachment, ElementPlan, GroupMember
from chartpact.contracts.check.machines import EdgePlan, MachinePlan
from chartpact.contracts.check.outputs import Attached, AttachedList, Instances, Leaf, Map
from chartpact.contracts.check.outputs import Node as OutputNode
from chartpact.contracts.language import nodes
from chartpact.contracts.language.document import ContractPath
from chartpact.contracts.language.nodes import Call, Expression, Node, side
from chartpact.contracts.language.values import Column, Constant, Item, Local, Location, Needs, Slot

FILENAME = "<contract>"
NOTES = Slot("notes", "")

Key = tuple[str | int, ...]  # what a function is for: ("where", element), ("edge", case), …


@dataclass(frozen=True)
class ReadingProgram:
    """The generated functions of one contract, and what they expect."""

    code: CodeType
    functions: Mapping[Key, str]  # their names
    paths: Mapping[int, str]  # line → place in the contract
    columns: Mapping[str, Mapping[Column, Needs]]  # channel → what its rows hold, and what it takes
    slots: Mapping[Slot, int]  # places in S
    constants: Mapping[Constant, str]  # their variables


class Module:
    """The functions of one contract while they are written."""

    def __init__(self, program: ReadingProgram | None = None) -> None:
        """An empty module, or one that finds everything where a program holds it."""
        self._lines: list[str] = []
        self._functions: dict[Key, str] = {}
        self._paths: dict[int, str] = {}
        columns = program.columns if program is not None else {}
        self._columns = {channel: dict(needs) for channel, needs in columns.items()}
        self._slots = dict(program.slots) if program is not None else {}
        self._constants = dict(program.constants) if program is not None else {}

    def slot(self, slot: Slot) -> int:
        return self._slots.setdefault(slot, len(self._slots))

    def constant(self, constant: Constant) -> str:
        return self._constants.setdefault(constant, f"k{len(self._constants)}")

    def column(self, column: Column) -> int:
        columns = self._columns.setdefault(column.channel, {})
        columns.setdefault(column, column.needs)
        return list(columns).index(column) + 1  # place 0 is the row's number

    def add(self, key: Key, function: "Function") -> None:
        name = self._functions.setdefault(key, f"f{len(self._functions)}")
        self._lines.append(f"def {name}({function.arguments}):")
        self._lines += [f"    s{slot} = S[{slot}]" for slot in sorted(function.slots)]
        for line, place in function.lines:
            self._lines.append(line)
            if place:
                self._paths[len(self._lines)] = ".".join(map(str, place))

    def program(self) -> ReadingProgram:
        code = compile("\n".join(self._lines) + "\n", FILENAME, "exec")
        return ReadingProgram(
            code, self._functions, self._paths, self._columns, self._slots, self._constants
        )


class Function:
    """One function while it is written."""

    def __init__(self, module: Module, arguments: str = "items, S") -> None:
        self.module, self.arguments = module, arguments
        self.slots: set[int] = set()
        self.variables: dict[Location, str] = {}  # where something is held besides its place
        self.lines: list[tuple[str, ContractPath]] = []
        self._temporaries = 0

    def line(self, code: str, place: ContractPath = (), indent: int = 1) -> None:
        """Adds a line of code that carries out what stands at a place of the contract."""
        assert "\n" not in code, code
        self.lines.append(("    " * indent + code, place))

    def locate(self, at: Location) -> str:
        """The code that fetches a value from where it is held."""
        if at in self.variables:
            return self.variables[at]
        match at:
            case Local():
                return at.name
            case Constant():
                return self.module.constant(at)
            case Slot():
                slot = self.module.slot(at)
                self.slots.add(slot)
                return f"s{slot}"
            case Item():
                step = self.module.column(at.step) if isinstance(at.step, Column) else at.step
                return f"{self.locate(at.of)}[{step!a}]"

    def code(self, node: Node) -> str:
        """The code of an expression."""
        match node:
            case nodes.Literal() if node.kind.name == "pattern":
                return self.locate(Constant("pattern", str(node.value)))
            case nodes.Literal():
                return ascii(node.value)
            case nodes.Mention():
                value = self.locate(node.value.at)
                if node.anchor is not None:
                    lost = f"lost({self.locate(node.anchor)})"
                    value = f"({value} if {value} is not None else {lost})"
                absent = " or ".join(f"{self.locate(guard)} is None" for guard in node.guards)
                return f"(None if {absent} else {value})" if absent else value
            case nodes.Choice():
                test, yes, no = map(self.code, (node.test, node.yes, node.no))
                return f"({yes} if {test} else {no})"
            case Call():
                return self._call(node)
            case nodes.Encoded():
                table = self.locate(Constant("encoding", node.table, node.of.kind.name))
                return f"{table}[{self.code(node.of)}]"
            case nodes.OfList():
                empty = ", default=None" if node.function in ("min", "max") else ""
                return f"{node.function}({self.code(node.listing)}{empty})"
            case nodes.ListNode():
                test = f" if {self.code(node.test)}" if node.test is not None else ""
                at = node.attached.value.at if node.attached else Slot("list", node.over)
                listed = self.locate(at)
                return f"[{self.code(node.item)} for x in {listed}{test}]"
        return self._operation(node)

    def _operation(self, node: Node) -> str:
        match node:
            case nodes.ArithmeticNode():
                # A product is one of floats, so that whole numbers do not grow without end.
                start = "1.0 * " if node.sign == "*" else ""
                return f"({start}{self.code(node.left)} {node.sign} {self.code(node.right)})"
            case nodes.Negative():
                return f"(-{self.code(node.of)})"
            case nodes.Finite():
                return self._finite(self.code(node.of))
            case nodes.Known():
                name = self._temporary()
                asked = f"({name} := {self.code(node.of)})"
                return f"({name} if {asked} is not None else unknown({node.quote!a}))"
            case nodes.Compare():
                anchors = node.sign == "==" and node.left.kind.name == "anchor"
                known = " != NOWHERE" if anchors else ""
                return f"({self.code(node.left)} {node.sign} {self.code(node.right)}{known})"
            case nodes.Among():
                of, items = self.code(node.of), self.tuple(node.items)
                known = f"{of} != NOWHERE and " if node.of.kind.name == "anchor" else ""
                return f"({known}{of} in {items})"
            case nodes.IsNone():
                return f"({self.code(node.of)} is None)"
            case nodes.Not(of=nodes.IsNone(of=of)):
                return f"({self.code(of)} is not None)"
            case nodes.Not():
                return f"(not {self.code(node.of)})"
            case nodes.Joined():
                return f"({(' and ' if node.all else ' or ').join(map(self.code, node.parts))})"
        raise TypeError(f"{type(node).__name__} has no code")

    def _call(self, node: Call) -> str:
        if node.function in ("time_of_day", "trading_day", "outdated"):
            *values, clock = node.arguments
            what = "time_of_day" if node.function == "time_of_day" else "trading_day"
            at = clock.value.at if isinstance(clock, nodes.Mention) else None
            keyed = isinstance(at, Constant)
            name = at.name if isinstance(at, Constant) else str(getattr(clock, "value", ""))
            turn = self.locate(Constant(what, name, "config" if keyed else ""))
            known = ", ".join(map(self.code, values))
            if node.function == "outdated":
                return f"outdated({known}, {turn}, {self.locate(NOTES)})"
            return f"{turn}({known})"
        if node.function == "time_of":
            return self.code(node.arguments[0])
        if node.function == "alpha":
            opacity = side(node.arguments[0], "alpha")
            assert opacity is not None
            return self.code(opacity)
        arguments = [self.code(argument) for argument in node.arguments]
        match node.function:
            case "near":
                half = self.locate(Constant("half_tick"))
                return f"(abs({arguments[0]} - {arguments[1]}) <= {half})"
            case "round_to_tick":
                return f"{self.locate(Constant('to_tick'))}({arguments[0]})"
            case "mean":
                return self._finite(f"(({' + '.join(arguments)}) / {len(arguments)})")
            case "matches":
                return f"({arguments[1]}.groups_in[{arguments[0]}] is not None)"
            case "starts_with":
                return f"{arguments[0]}.startswith({arguments[1]})"
        return f"{node.function}({', '.join(arguments)})"

    def apart(self, node: Node) -> str:
        """A key by the order of anchors, which tells instances apart where times are not known."""
        if not isinstance(node, nodes.Mention):
            return "apart(None)"
        at = node.value.at if node.anchor is None else node.anchor
        value = replace(node.value, at=at)
        return f"apart({self.code(replace(node, value=value, anchor=None))})"

    def _finite(self, code: str) -> str:
        name = self._temporary()
        return f"({name} if -1e999 < ({name} := {code}) < 1e999 else endless())"

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def tuple(self, parts: Iterable[Node]) -> str:
        return f"({''.join(f'{self.code(part)}, ' for part in parts)})"


# ----------------------------------------------------------------------------------------- program


def generate(
    elements: Mapping[str, ElementPlan],
    machines: Mapping[str, MachinePlan],
    edges: Mapping[str, EdgePlan],
    output: Map,
) -> ReadingProgram:
    """The program that reads under a checked contract."""
    module = Module()
    for element in elements.values():
        _element(module, element)
    for machine in machines.values():
        _machine(module, machine)
    for edge in edges.values():
        place = ("edge_cases", edge.name, "when")
        if edge.spec.each is None:
            evaluate(module, ("edge", edge.name), place, edge.when)
        else:
            _map(module, ("edge", edge.name), place, "i for i in items if {}", edge.when)
    _output(module, output)
    return module.program()


def generate_parts(
    program: ReadingProgram,
    element: ElementPlan,
    parts: Sequence[Node],
    mentions: Sequence[Sequence[Node]],
) -> ReadingProgram:
    """Functions for the parts of an element's condition, and for what each of them mentions."""
    module, place, form = Module(program), ("elements", element.name, "where"), "{} for m in items"
    for n, (part, mentioned) in enumerate(zip(parts, mentions, strict=True)):
        _map(module, (n, "holds"), place, form, Expression(part))
        sides = part.arguments if isinstance(part, Call) and part.function == "near" else ()
        for what, values in (("shown", mentioned), ("side", sides)):
            for k, node in enumerate(values):
                _map(module, (n, what, k), place, form, Expression(node))
    return module.program()


def _map(module: Module, key: Key, place: ContractPath, form: str, rule: Expression) -> None:
    """A function that makes a list of items; an expression stands in the form of its code."""
    function = Function(module)
    function.line(f"return [{form.format(function.code(rule.node))}]", place)
    module.add(key, function)


def evaluate(module: Module, key: Key, place: ContractPath, rule: Expression) -> None:
    """A function that gives the value of an expression of the whole reading."""
    function = Function(module, "S")
    function.line(f"return {function.code(rule.node)}", place)
    module.add(key, function)


# ---------------------------------------------------------------------------------------- elements


def _element(module: Module, plan: ElementPlan) -> None:
    place, name = ("elements", plan.name), plan.name
    module.slot(Slot("element", name))
    module.slot(Slot("list", name))
    if plan.where is not None:
        _map(module, ("where", name), (*place, "where"), "m for m in items if {}", plan.where)
    if plan.group is not None:
        _keys(module, "group", plan, plan.group)
    if plan.newest is not None:
        _map(module, ("newest", name), (*place, "newest"), "{} for m in items", plan.newest)
        _keys(module, "per", plan, plan.per)
    if plan.age is not None:
        _map(module, ("age", name), (*place, "evicted"), "{} for m in items", plan.age)
    _build(module, plan, place)
    for attachment in plan.attachments:
        _attach(module, attachment, name, (*place, "attach", attachment.name))
    if plan.key is not None:
        identify = Function(module)
        values = identify.tuple(rule.node for rule in plan.key)
        identify.line(f"return [{values} for i in items]", (*place, "key"))
        module.add(("key", name), identify)
        same = Function(module)
        values = "".join(f"{same.apart(rule.node)}, " for rule in plan.key)
        same.line(f"return [({values}) for i in items]", (*place, "key"))
        module.add(("same", name), same)


def _keys(module: Module, word: str, plan: ElementPlan, locations: Sequence[Location]) -> None:
    """The function that gives each member's values at some locations, as a tuple."""
    function = Function(module)
    values = "".join(f"{function.locate(at)}, " for at in locations)
    function.line(f"return [({values}) for m in items]", ("elements", plan.name, word))
    module.add((word, plan.name), function)


def _build(module: Module, plan: ElementPlan, place: ContractPath) -> None:
    """The function that makes instances of members, or of groups of them.

    What an instance will hold is kept in variables until all of it is known.
    """
    build, grouped = Function(module), plan.group is not None
    names = [f"v{slot}" for slot in range(plan.row - len(plan.spec.attach))]
    names[0] = "members" if grouped else "m"
    for n in range(len(plan.group or ())):
        names[1 + n] = f"key[{n}]"
    build.variables = {Item(INSTANCE, slot): name for slot, name in enumerate(names)}
    instance = f"[{', '.join(names + ['None'] * (len(plan.spec.attach) + 1))}]"
    if not (grouped or plan.decode or plan.reads or plan.each):
        build.line(f"return [{instance} for m in items]", place)
        module.add(("build", plan.name), build)
        return
    build.line("out = []")
    if plan.each is not None:
        entries = f"[(m, e) for m in items for e in {build.locate(plan.each.at)}]"
        build.line(f"for m, v{plan.each.slot} in {entries}:")
    else:
        build.line("for key, members in items:" if grouped else "for m in items:")
    if grouped and plan.spec.parts is not None:
        build.line("left = members", indent=2)
        for name, part in plan.parts.items():
            _choose(build, part, (*place, "parts", name))
        build.line("if left: raise surplus(left)", (*place, "parts"), indent=2)
    if plan.decode is not None:
        decoder = build.locate(Constant("decoder", plan.name))
        decoded = f"{decoder}[{build.code(plan.decode.rule.node)}]"
        build.line(f"v{plan.decode.slot} = {decoded}", (*place, "decode"), indent=2)
    if plan.sift is not None:
        sift = build.code(plan.sift.node)
        build.line(f"if not {sift}: continue", (*place, "where"), indent=2)
    for name, read in plan.reads.items():
        for slot, node in read.slots:
            build.line(f"v{slot} = {build.code(node)}", (*place, "reads", name), indent=2)
    build.line(f"out.append({instance})", place, indent=2)
    build.line("return out")
    module.add(("build", plan.name), build)


def _choose(build: Function, part: GroupMember, place: ContractPath) -> None:
    """Takes a part from what is left of a group; `w` is empty where there is none."""
    rule = build.code(part.rule.node)
    if part.way == "where":
        build.line(f"w = [m for m in left if {rule}]", (*place, part.way), indent=2)
        build.line("if len(w) > 1: raise tie(w)", place, indent=2)
        at = "left.index(w[0])"
    else:
        best, at = ("max" if part.way == "highest" else "min"), "w.index(b)"
        build.line(f"w = [{rule} for m in left]", (*place, part.way), indent=2)
        build.line(f"b = {best}(w) if w else None", place, indent=2)
        equal = "[m for m, v in zip(left, w) if v == b]"
        settle = f"check_alike({equal})" if part.alike else f"raise tie({equal})"
        build.line(f"if w.count(b) > 1: {settle}", place, indent=2)
    chosen = f"v{part.slot}"
    if part.optional:
        build.line(f"{chosen} = None", place, indent=2)
    else:
        build.line("if not w: raise nothing_left(members)", place, indent=2)
    take = f"n = {at}; {chosen} = left[n]; left = left[:n] + left[n + 1:]"
    build.line(f"if w: {take}", place, indent=2)


def _attach(module: Module, plan: Attachment, element: str, place: ContractPath) -> None:
    """The function that finds the candidates of every owner.

    Candidates are sorted by the first range and looked up by its bounds; what else must hold is
    tested on those in reach. `budget` counts how many are looked at.
    """
    search = Function(module, "items, candidates, budget, S")
    search.line(
        f"keys = [{search.code(plan.ranges[0].of.node)} for c in candidates]", (*place, "within")
    )
    search.line("order = [n for n, k in enumerate(keys) if k is not None]")
    search.line("order.sort(key=keys.__getitem__)")
    search.line("keys = [keys[n] for n in order]")
    search.line("sorted_candidates = [candidates[n] for n in order]")
    search.line("out = []")
    search.line("for i in items:")
    tests = []
    for n, range_ in enumerate(plan.ranges):
        for end, rule in (("l", range_.low), ("h", range_.high)):
            search.line(f"{end}{n} = {search.code(rule.node)}", range_.place, indent=2)
        if n:
            value = search.code(range_.of.node)
            tests.append(f"{value} is not None and l{n} <= {value} <= h{n}")
    if plan.where is not None:
        tests.append(search.code(plan.where.node))
    search.line("a, z = bisect_left(keys, l0), bisect_right(keys, h0)", place, indent=2)
    search.line("budget[0] -= max(z - a, 0)", indent=2)
    search.line("if budget[0] < 0: raise crowd()", place, indent=2)
    condition = f" if {' and '.join(tests)}" if tests else ""
    search.line(f"w = [c for c in sorted_candidates[a:z]{condition}]", place, indent=2)
    if plan.nearest is not None:
        distance = search.code(plan.nearest.node)
        search.line("if len(w) > 1:", indent=2)
        search.line(f"q = [{distance} for c in w]", (*place, "nearest"), indent=3)
        search.line("b = min(q)", indent=3)
        search.line("w = [c for c, k in zip(w, q) if k == b]", indent=3)
    search.line("out.append(w)", indent=2)
    search.line("return out")
    module.add(("attach", element, plan.name), search)


# ----------------------------------------------------------------------------- machines and output


def _machine(module: Module, plan: MachinePlan) -> None:
    place, repeated = ("states", plan.name), plan.element is not None
    module.slot(Slot("machine", plan.name))
    observe = Function(module, "items, S" if repeated else "S")
    observe.line("return [(" if repeated else "return (")
    for name, rule in plan.observed.items():
        observe.line(f"{observe.code(rule.node)},", (*place, "observe", name), indent=2)
    observe.line(") for i in items]" if repeated else ")")
    module.add(("observe", plan.name), observe)
    key, at = ("epoch", plan.name), (*place, "epoch")
    if plan.epoch is not None and repeated:
        _map(module, key, at, "{} for i in items", plan.epoch)
    elif plan.epoch is not None:
        evaluate(module, key, at, plan.epoch)


def _output(module: Module, node: OutputNode) -> None:
    match node:
        case Map():
            for inner in node.items.values():
                _output(module, inner)
        case Leaf():
            evaluate(module, node.place, node.place, node.rule)
        case Instances():
            _instances(module, node)


def _instances(module: Module, node: Instances) -> None:
    """The function that gives (sort, split, object) for each instance."""
    listed = Function(module)
    listed.line("return [")
    listed.line("(", indent=2)
    for word, rule in (("sort", node.sort), ("split", node.split)):
        value = listed.code(rule.node) if rule is not None else "None"
        listed.line(f"{value},", (*node.place, word), indent=3)
    _give(listed, node.give, 3)
    listed.line(")", indent=2)
    listed.line("for i in items", indent=2)
    if node.where is not None:
        listed.line(f"if {listed.code(node.where.node)}", (*node.place, "where"), indent=2)
    listed.line("]")
    module.add(node.place, listed)


def _give(listed: Function, give: Map, indent: int) -> None:
    """The object made of one instance, as lines of a dict display."""
    listed.line("{", indent=indent)
    for name, node in give.items.items():
        if isinstance(node, Leaf):
            value = listed.code(node.rule.node)
            listed.line(f"{name!a}: {value},", node.place, indent=indent + 1)
            continue
        listed.line(f"{name!a}:", indent=indent + 1)
        if isinstance(node, Attached):
            absent = f"None if {listed.locate(node.at)} is None else"
            listed.line(absent, node.place, indent=indent + 1)
            _give(listed, node.give, indent + 1)
        elif isinstance(node, AttachedList):
            listed.line("in_order([(", indent=indent + 1)
            listed.line(f"{listed.code(node.sort.node)}, None,", node.place, indent=indent + 2)
            _give(listed, node.give, indent + 2)
            where = f" if {listed.code(node.where.node)}" if node.where is not None else ""
            run = f") for x in {listed.locate(node.at)}{where}]),"
            listed.line(run, node.place, indent=indent + 1)
        elif isinstance(node, Map):
            _give(listed, node, indent + 1)
    listed.line("},", indent=indent)
