"""The functions of a contract as Python code: one for each step of a reading.

Each is found by what it is for, as in `("where", element)`. All work on whole lists, so that no
object costs a call.
"""

from collections.abc import Mapping

from chartpact.contracts.document import Place
from chartpact.contracts.engine.context import path_of
from chartpact.contracts.engine.elements import INSTANCE, Attachment, ElementPlan, Part
from chartpact.contracts.engine.machines import EdgePlan, MachinePlan
from chartpact.contracts.engine.outputs import Attached, Instances, Leaf, Map, Node
from chartpact.contracts.expressions.codegen import Function, Module, Program
from chartpact.contracts.expressions.nodes import Expression
from chartpact.contracts.expressions.values import Constant, Item, Slot


def generate(
    elements: Mapping[str, ElementPlan],
    machines: Mapping[str, MachinePlan],
    edges: Mapping[str, EdgePlan],
    output: Map,
) -> Program:
    """The program that reads under a checked contract."""
    module = Module()
    for element in elements.values():
        _element(module, element)
    for machine in machines.values():
        _machine(module, machine)
    for edge in edges.values():
        _edge(module, edge)
    _output(module, output)
    return module.program()


# ---------------------------------------------------------------------------------------- elements


def _element(module: Module, plan: ElementPlan) -> None:
    place = ("elements", plan.name)
    module.slot(Slot("element", plan.name))
    module.slot(Slot("list", plan.name))
    if plan.where is not None:
        where = Function(module, "items, S")
        test = where.code(plan.where.node)
        where.line(f"return [m for m in items if {test}]", path_of((*place, "where")))
        module.add(("where", plan.name), where)
    if plan.group is not None:
        group = Function(module, "items, S")
        key = "".join(f"{group.locate(at)}, " for at in plan.group)
        group.line(f"return [({key}) for m in items]", path_of((*place, "group")))
        module.add(("group", plan.name), group)
    if plan.newest is not None:
        newest = Function(module, "items, S")
        value = newest.code(plan.newest.node)
        newest.line(f"return [{value} for m in items]", path_of((*place, "newest")))
        module.add(("newest", plan.name), newest)
    _build(module, plan, place)
    for attachment in plan.attachments:
        _attach(module, attachment, plan.name, (*place, "attach", attachment.name))
    if plan.key is not None:
        identify = Function(module, "items, S")
        values = identify.tuple(rule.node for rule in plan.key)
        identify.line(f"return [{values} for i in items]", path_of((*place, "key")))
        module.add(("key", plan.name), identify)


def _build(module: Module, plan: ElementPlan, place: Place) -> None:
    """The function that makes instances of members, or of groups of them.

    What an instance will hold is kept in variables until all of it is known.
    """
    build, grouped = Function(module, "items, S"), plan.group is not None
    names = [f"v{slot}" for slot in range(plan.row - len(plan.spec.attach))]
    names[0] = "members" if grouped else "m"
    for n in range(len(plan.group or ())):
        names[1 + n] = f"key[{n}]"
    build.variables = {Item(INSTANCE, slot): name for slot, name in enumerate(names)}
    made = f"[{', '.join(names + ['None'] * (len(plan.spec.attach) + 1))}]"
    if not (grouped or plan.decode or plan.reads):
        build.line(f"return [{made} for m in items]", path_of(place))
        module.add(("build", plan.name), build)
        return
    build.line("out = []")
    build.line("for key, members in items:" if grouped else "for m in items:")
    if grouped and plan.spec.parts is not None:
        build.line("left = members", indent=2)
        for name, part in plan.parts.items():
            _choose(build, part, (*place, "parts", name))
        build.line("if left: raise surplus(left)", path_of((*place, "parts")), indent=2)
    if plan.decode is not None:
        decoder = build.locate(Constant("decoder", plan.name))
        decoded = f"{decoder}[{build.code(plan.decode.rule.node)}]"
        build.line(f"v{plan.decode.slot} = {decoded}", path_of((*place, "decode")), indent=2)
    for name, read in plan.reads.items():
        for slot, node in read.slots:
            build.line(f"v{slot} = {build.code(node)}", path_of((*place, "reads", name)), indent=2)
    build.line(f"out.append({made})", path_of(place), indent=2)
    build.line("return out")
    module.add(("build", plan.name), build)


def _choose(build: Function, part: Part, place: Place) -> None:
    """Takes a part from what is left of a group; `w` is empty where there is none."""
    rule, path = build.code(part.rule.node), path_of(place)
    if part.way == "where":
        build.line(f"w = [m for m in left if {rule}]", path_of((*place, part.way)), indent=2)
        build.line("if len(w) > 1: raise tie(w)", path, indent=2)
        at = "left.index(w[0])"
    else:
        best, at = ("max" if part.way == "highest" else "min"), "w.index(b)"
        build.line(f"w = [{rule} for m in left]", path_of((*place, part.way)), indent=2)
        build.line(f"b = {best}(w) if w else None", path, indent=2)
        alike = "[m for m, v in zip(left, w) if v == b]"
        build.line(f"if w.count(b) > 1: raise tie({alike})", path, indent=2)
    chosen = f"v{part.slot}"
    if part.optional:
        build.line(f"{chosen} = None", path, indent=2)
    else:
        build.line("if not w: raise nothing_left(members)", path, indent=2)
    take = f"n = {at}; {chosen} = left[n]; left = left[:n] + left[n + 1:]"
    build.line(f"if w: {take}", path, indent=2)


def _attach(module: Module, plan: Attachment, element: str, place: Place) -> None:
    """The function that finds the candidates of every owner.

    Candidates are sorted by the first range and looked up by its bounds; what else must hold is
    tested on those in reach. `budget` counts how many are looked at.
    """
    search, path = Function(module, "items, candidates, budget, S"), path_of(place)
    keyed, *tested = plan.ranges
    keys = search.code(keyed.of.node)
    search.line(f"keys = [{keys} for c in candidates]", path_of((*place, "within")))
    search.line("order = [n for n, k in enumerate(keys) if k is not None]")
    search.line("order.sort(key=keys.__getitem__)")
    search.line("keys = [keys[n] for n in order]")
    search.line("sorted_candidates = [candidates[n] for n in order]")
    search.line("out = []")
    search.line("for i in items:")
    tests = []
    for n, range_ in enumerate(plan.ranges):
        for end, rule in (("l", range_.low), ("h", range_.high)):
            search.line(f"{end}{n} = {search.code(rule.node)}", path_of(range_.place), indent=2)
    for n, range_ in enumerate(tested, start=1):
        value = search.code(range_.of.node)
        tests.append(f"{value} is not None and l{n} <= {value} <= h{n}")
    if plan.where is not None:
        tests.append(search.code(plan.where.node))
    search.line("a, z = bisect_left(keys, l0), bisect_right(keys, h0)", path, indent=2)
    search.line("budget[0] -= max(z - a, 0)", indent=2)
    search.line("if budget[0] < 0: raise crowd()", path, indent=2)
    condition = f" if {' and '.join(tests)}" if tests else ""
    search.line(f"w = [c for c in sorted_candidates[a:z]{condition}]", path, indent=2)
    if plan.nearest is not None:
        distance = search.code(plan.nearest.node)
        search.line("if len(w) > 1:", indent=2)
        search.line(f"q = [{distance} for c in w]", path_of((*place, "nearest")), indent=3)
        search.line("b = min(q)", indent=3)
        search.line("w = [c for c, k in zip(w, q) if k == b]", indent=3)
    search.line("out.append(w)", indent=2)
    search.line("return out")
    module.add(("attach", element, plan.name), search)


# -------------------------------------------------------------------------- machines and edge cases


def _machine(module: Module, plan: MachinePlan) -> None:
    place, each = ("states", plan.name), plan.element is not None
    module.slot(Slot("machine", plan.name))
    observe = Function(module, "items, S" if each else "S")
    observe.line("return [(" if each else "return (")
    for name, rule in plan.observed.items():
        path = path_of((*place, "observe", name))
        observe.line(f"{observe.code(rule.node)},", path, indent=2)
    observe.line(") for i in items]" if each else ")")
    module.add(("observe", plan.name), observe)
    if plan.epoch is not None:
        epoch = Function(module, "items, S" if each else "S")
        value = epoch.code(plan.epoch.node)
        returned = f"[{value} for i in items]" if each else value
        epoch.line(f"return {returned}", path_of((*place, "epoch")))
        module.add(("epoch", plan.name), epoch)


def _edge(module: Module, plan: EdgePlan) -> None:
    each = plan.spec.each is not None
    case = Function(module, "items, S" if each else "S")
    test = case.code(plan.when.node)
    returned = f"[i for i in items if {test}]" if each else test
    case.line(f"return {returned}", path_of(("edge_cases", plan.name, "when")))
    module.add(("edge", plan.name), case)


# ------------------------------------------------------------------------------------------ output


def _output(module: Module, node: Node) -> None:
    match node:
        case Map():
            for inner in node.items.values():
                _output(module, inner)
        case Leaf():
            leaf = Function(module, "S")
            leaf.line(f"return {leaf.code(node.rule.node)}", path_of(node.place))
            module.add(node.place, leaf)
        case Instances():
            _instances(module, node)


def _instances(module: Module, node: Instances) -> None:
    """The function that gives (sort, split, object) for each instance."""
    listed = Function(module, "items, S")

    def code(rule: Expression | None) -> str:
        return listed.code(rule.node) if rule is not None else "None"

    listed.line("return [")
    listed.line("(", indent=2)
    listed.line(f"{code(node.sort)},", path_of((*node.place, "sort")), indent=3)
    listed.line(f"{code(node.split)},", path_of((*node.place, "split")), indent=3)
    _give(listed, node.give, 3)
    listed.line(")", indent=2)
    listed.line("for i in items", indent=2)
    if node.where is not None:
        listed.line(f"if {code(node.where)}", path_of((*node.place, "where")), indent=2)
    listed.line("]")
    module.add(node.place, listed)


def _give(listed: Function, give: Map, indent: int) -> None:
    """The object made of one instance, as lines of a dict display."""
    listed.line("{", indent=indent)
    for name, node in give.items.items():
        if isinstance(node, Leaf):
            value = listed.code(node.rule.node)
            listed.line(f"{name!a}: {value},", path_of(node.place), indent=indent + 1)
            continue
        listed.line(f"{name!a}:", indent=indent + 1)
        if isinstance(node, Attached):
            absent = f"None if {listed.locate(node.at)} is None else"
            listed.line(absent, path_of(node.place), indent=indent + 1)
            _give(listed, node.give, indent + 1)
        elif isinstance(node, Map):
            _give(listed, node, indent + 1)
    listed.line("},", indent=indent)
