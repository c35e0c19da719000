"""What straight code costs, in twelfths of a step, along its longest path.

What depends on sizes (loops, calls of the host, texts) is charged when it happens and is not
counted here.
"""

import ast
from collections.abc import Callable, Mapping
from functools import partial

from chartpact.script.check.checked import FUNCTION, Checked
from chartpact.script.compile.hoisting import Source, hoisted_read, literal_index
from chartpact.script.compile.kinds import (
    BIG,
    DICT,
    FLOAT,
    INT,
    LIST,
    NUMBER,
    SEQUENCE,
    is_none_test,
    union,
)
from chartpact.script.compile.nodes import accessed, is_plain_call
from chartpact.script.compile.quick_math import quick_math
from chartpact.script.compile.type_guards import TypeGuards
from chartpact.script.runtime.meter import TWELFTHS
from chartpact.syntax import children

MOVERS = frozenset(("set_left", "set_right", "set_x", "set_x1", "set_x2"))  # to another bar
DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
LONG_BRANCH = 36  # twelfths: a longer branch of an `if` is charged when it is taken
TURN, SHORTEST_TURN = 2, 3  # of a loop without its body, and at least with it
PLAIN = 1  # an assignment, a jump, `not x`
NATIVE, INLINED, GUARDED = 2, 5, 33  # an operator
INLINED_INTS = 7  # an inlined comparison that takes ints, too
WHOLE, DIVIDED = 3, 3  # an operator on two ints, and a division of floats
COMPARED = 2  # two floats, or two ints
MIXED, MIXED_COMPARED = 4, 6  # an int and a float
BIG_NATIVE = 7  # an operator on an int without bounds
NO_FLOATS = 3  # steps of an inlined operator whose sides turn out to be no floats
QUICK: Mapping[str, int] = {"math.exp": 8, "math.log": 20, "math.pow": 15, "math.sqrt": 8}
TESTED_INT, TESTED_POWER = 3, 5  # within bounds: an int, and the exponent
CALL, HOST_PAIR = 30, 18  # of a builtin, or of the host, which checks two values one by one
CHOICE, MIXED_CHOICE = 4, 8  # between two numbers, one of which may be an int and one a float
CALLED_CHOICE = 10  # the same by a call
CHECK = 3  # whether a value is a float
MOST_CHOICES = 6  # numbers of a `max` that chooses between two at a time
EXTREME = 24  # each of more numbers
ACCESS = 15  # `box.set_top(x)`, which charges more as it happens
MOVE = 20  # `box.set_right(i)`, which does not
APPEND = 3  # `values.append(x)`
KEYWORD = 6  # a named value of a call
DIRECT_CALL, ENTRY = 4, 2  # of a function of the script, without its body
LENGTH = 4  # `len(values)` of what is surely a list, or the like
ABSOLUTE, MAYBE_ABSOLUTE = 4, 18  # `abs(number)`, and of what may be none
UNPACK, CALLED_UNPACK = 8, 24  # `a, b = x` of a tuple, and by a call
HOISTED, COMPUTED = 2, 3  # `close[i]` in a loop, which reads from a list, and `close[i - 1]`
LISTED, NO_LIST = 5, 2  # `record[1]` of a list; the steps more if it turns out to be none
READ, ELEMENT = 32, 5  # an element of a dict under a number, and any other
STORE = 39  # an element of a dict, which may have to grow
FIELD, STORE_FIELD = 5, 8  # `record["top"]`
AUGMENT = 36  # `d[k] += 1`, which looks for the element twice
COLLECT = 48  # an element of a dict that a comprehension makes
DIVIDE_BIG = 60  # ints without bounds divided to a float
FUNCTION_VALUE = COMPREHENSION = 36
COLLECTED = 5  # an element of a list that a comprehension makes
LOOP = 12  # a loop, before it is entered
_METHODS: Mapping[str, int] = {"append": APPEND, **dict.fromkeys(MOVERS, MOVE)}


def steps(twelfths: int) -> int:
    return -(-twelfths // TWELFTHS)


def entry(args: ast.arguments) -> int:
    """The weight of entering a function, without its body."""
    return ENTRY + (12 if args.vararg else 0) + (36 if args.kwarg else 0)


def unpacking(target: ast.expr, pairs: bool = False, inlines: bool = True) -> int:
    """The weight of taking a value apart, which `pairs` of a loop are already."""
    if not isinstance(target, ast.Tuple | ast.List):
        return 0
    own = PLAIN if pairs else UNPACK if inlines else CALLED_UNPACK
    return own + sum(unpacking(part, inlines=inlines) for part in target.elts)


def _display(node: ast.expr) -> int:
    """The weight of a list, tuple or dict, of `and` and `or`, and of whatever is left."""
    if isinstance(node, ast.List | ast.Tuple):
        return (24 if isinstance(node, ast.List) else 4) + 2 * len(node.elts)
    if isinstance(node, ast.BoolOp):
        return PLAIN * (len(node.values) - 1)
    return 60 + 24 * len(node.values) if isinstance(node, ast.Dict) else 12


def _is_field(node: ast.Subscript) -> bool:
    """Whether it is an element under a literal text: there are few of those in a dict."""
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


class Weights:
    """The weights of a module's code; functions are weighed before those that call them."""

    def __init__(
        self,
        checked: Checked,
        guards: TypeGuards,
        hoisted: Callable[[], Mapping[Source | None, str]],
    ) -> None:
        self._checked = checked
        self._guards = guards
        self._hoisted = hoisted  # of the code that is being written
        self._functions: dict[str, int] = {}
        # By the identity of a block, which is weighed again for every block around it.
        self._ends: dict[int, bool] = {}
        self._paths: dict[int, int] = {}

    def function(self, node: ast.FunctionDef) -> int:
        """The steps of a call of a top-level function, which later calls of it are charged."""
        self._functions[node.name] = entry(node.args) + self.path(node.body)
        return steps(self._functions[node.name])

    def path(self, statements: list[ast.stmt]) -> int:
        """The weight of the longest path through the statements, without what loops repeat."""
        if id(statements) not in self._paths:
            self._paths[id(statements)] = self._path(statements)
        return self._paths[id(statements)]

    def _path(self, statements: list[ast.stmt]) -> int:
        weight = 0
        for statement in reversed(statements):
            if isinstance(statement, ast.If):
                paths = (
                    self._short(branch) + (weight if self._falls_through(branch) else 0)
                    for branch in (statement.body, statement.orelse)
                )
                weight = PLAIN + self.cost(statement.test) + max(paths)
            elif isinstance(statement, ast.Return | ast.Break | ast.Continue):
                value = getattr(statement, "value", None)
                weight = PLAIN + (0 if value is None else self.cost(value))
            else:
                weight += self._statement(statement)
        return weight

    def _falls_through(self, statements: list[ast.stmt]) -> bool:
        """Whether the end of the statements can be reached."""
        if not statements:
            return True
        if id(statements) not in self._ends:
            last = statements[-1]
            self._ends[id(statements)] = (
                self._falls_through(last.body) or self._falls_through(last.orelse)
                if isinstance(last, ast.If)
                else not isinstance(last, ast.Return | ast.Break | ast.Continue)
            )
        return self._ends[id(statements)]

    def charged(self, branch: list[ast.stmt]) -> int | None:
        """The steps that a long branch charges for itself, None for a short one."""
        weight = self.path(branch)
        return 1 + steps(weight) if weight > LONG_BRANCH else None

    def _short(self, branch: list[ast.stmt]) -> int:
        """The weight of a branch that does not charge for itself."""
        weight = self.path(branch)
        return weight if weight <= LONG_BRANCH else 0

    def _statement(self, node: ast.stmt) -> int:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            unpacked = 0 if isinstance(value, ast.Tuple | ast.List) else unpacking(target)
            return PLAIN + unpacked + self.cost(value) + self._target(target)
        if isinstance(node, ast.AugAssign):
            guarded = self._guards.binary(node.op, node.target, node.value)
            own = PLAIN + self._native(node.op, node.target, node.value)
            if guarded:
                own = self._guarded(node.op, node.target, node.value, inlines=True)
            read = self._read(node.target) if isinstance(node.target, ast.Subscript) else 0
            if read == READ or (read and guarded):
                read += AUGMENT
            return own + read + self.cost(node.value) + self.cost(node.target)
        if isinstance(node, ast.Expr):
            return PLAIN + self.cost(node.value)
        if isinstance(node, ast.For):
            return LOOP + self.cost(node.iter)
        if isinstance(node, ast.FunctionDef):
            return FUNCTION_VALUE + sum(map(self.cost, node.args.defaults))
        return 0

    def _target(self, node: ast.expr) -> int:
        """The weight of what is assigned to, without taking a value apart."""
        if isinstance(node, ast.Tuple | ast.List):
            return sum(map(self._target, node.elts))
        return self.cost(node)

    def cost(self, node: ast.expr, inlines: bool = True) -> int:
        """The weight of an expression, which may be where no operators are inlined."""
        cost = partial(self.cost, inlines=inlines)
        if isinstance(node, ast.Constant | ast.Name):
            return 0
        if isinstance(node, ast.Lambda):
            return FUNCTION_VALUE
        if isinstance(node, ast.IfExp):
            return 2 * PLAIN + cost(node.test) + max(cost(node.body), cost(node.orelse))
        if isinstance(node, ast.ListComp | ast.DictComp):
            return COMPREHENSION + cost(node.generators[0].iter)
        if isinstance(node, ast.Subscript):
            index = self._guards.kind(node.slice)
            if hoisted_read(node, self._hoisted(), index) is not None:
                return (COMPUTED if isinstance(node.slice, ast.BinOp) else HOISTED) + cost(
                    node.slice
                )
        if isinstance(node, ast.Call) and (method := accessed(node)) is not None:
            weight = _METHODS.get(method.attr, ACCESS)
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            weight += KEYWORD * len(node.keywords)
            return weight + sum(map(cost, [method.value, *arguments]))
        if inlines and (name := quick_math(node, self._checked, self._guards)):
            assert isinstance(node, ast.Call)
            return self._quick(node, name) + sum(map(cost, node.args))
        weight = self._own(node, inlines)
        for child in children(node):
            if isinstance(child, ast.expr):
                weight += cost(child)
            elif isinstance(child, ast.keyword):
                weight += KEYWORD + cost(child.value)
        return weight

    def _own(self, node: ast.expr, inlines: bool) -> int:
        """The weight of an expression without its parts."""
        guards = self._guards
        if isinstance(node, ast.Call):
            return self._call(node, inlines)
        if isinstance(node, ast.BinOp):
            if guards.binary(node.op, node.left, node.right):
                return self._guarded(node.op, node.left, node.right, inlines)
            return self._native(node.op, node.left, node.right)
        if isinstance(node, ast.UnaryOp):
            plain = PLAIN if isinstance(node.op, ast.Not) else WHOLE
            return GUARDED if guards.unary(node.op, node.operand) else plain
        if isinstance(node, ast.Compare):
            sides = node.left, node.comparators[0]
            if is_none_test(node):
                return NATIVE
            if not guards.compare(node.ops[0], *sides):
                return self._native(node.ops[0], *sides)
            return self._guarded(node.ops[0], *sides, inlines)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            if guards.element(node):
                return GUARDED
            if isinstance(node.ctx, ast.Store) and guards.kind(node.value) & DICT:
                return STORE_FIELD if _is_field(node) else STORE
            return self._read(node)
        return _display(node)

    def _call(self, node: ast.Call, inlines: bool) -> int:
        """The weight of a call without its arguments."""
        func = node.func
        if self.is_choice(node, inlines):
            return self._choice(node, inlines)
        if isinstance(func, ast.Name) and self._checked.bindings.get(func) == FUNCTION:
            return DIRECT_CALL + self._functions.get(func.id, 0)
        if self._is_extreme(node):
            return CALL + EXTREME * len(node.args)
        if len(node.args) == 1 and is_plain_call(node):
            kinds = self._guards.kind(node.args[0])
            if self._checked.is_builtin(func, "abs"):
                return MAYBE_ABSOLUTE if kinds & ~NUMBER else ABSOLUTE
            if self._checked.is_builtin(func, "len") and not kinds & ~(SEQUENCE | DICT):
                return LENGTH
        pair = len(node.args) > 1 and self._checked.namespaced(func)
        return CALL + (HOST_PAIR if pair else 0)

    def _quick(self, node: ast.Call, name: str) -> int:
        """The weight of a call of `math` that compiled code makes itself."""
        computed = [value for value in node.args if literal_index(value) is None]
        ints = sum(bool(self._guards.kind(value) & INT) for value in computed)
        return QUICK[name] + TESTED_INT * ints + TESTED_POWER * (len(computed) - 1)

    def is_choice(self, node: ast.Call, inlines: bool) -> bool:
        """Whether the call is `min` or `max` of a few numbers, chosen between two at a time.

        Where operators are inlined, the values may turn out to be something else.
        """
        few = 2 <= len(node.args) <= MOST_CHOICES and is_plain_call(node)
        if not few or not self._checked.is_builtin(node.func, "min", "max"):
            return False
        guards = self._guards
        return all(
            guards.is_number(value) or (inlines and guards.kind(value) & FLOAT)
            for value in node.args
        )

    def _choice(self, node: ast.Call, inlines: bool) -> int:
        numbers = [value for value in node.args if self._guards.is_number(value)]
        checked = len(node.args) - len(numbers)  # to be floats
        kinds = union(map(self._guards.kind, numbers)) | (FLOAT if checked else 0)
        mixed = kinds & FLOAT and kinds & INT
        choice = CALLED_CHOICE if not inlines else MIXED_CHOICE if mixed else CHOICE
        return choice * (len(node.args) - 1) + CHECK * checked

    def _is_extreme(self, node: ast.Call) -> bool:
        """Whether the call is `min` or `max` of many numbers."""
        return (
            self._checked.is_builtin(node.func, "min", "max")
            and is_plain_call(node)
            and all(map(self._guards.is_number, node.args))
        )

    def _guarded(self, operator: ast.AST, left: ast.expr, right: ast.expr, inlines: bool) -> int:
        if not inlines or not self._guards.inlines(operator, left, right):
            return GUARDED
        return INLINED_INTS if self._guards.takes_ints(operator, left, right) else INLINED

    def _read(self, node: ast.Subscript) -> int:
        """The weight of an element that is read without a guard."""
        if self.may_be_list(node):
            return LISTED
        if _is_field(node):
            return FIELD
        hashes = self._guards.kind(node.value) & DICT and self._guards.kind(node.slice) & NUMBER
        return READ if hashes else ELEMENT

    def may_be_list(self, node: ast.Subscript) -> bool:
        """Whether an element is read of what may be a list, or a dict under a number."""
        plain = isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name | ast.Constant)
        holder, index = self._guards.kind(node.value), self._guards.kind(node.slice)
        reads = plain and isinstance(node.ctx, ast.Load)
        return bool(reads and holder & LIST and holder & DICT and index & NUMBER)

    def _native(self, operator: ast.AST, left: ast.expr, right: ast.expr) -> int:
        """The weight of an operator that needs no guard."""
        kinds = self._guards.kind(left) | self._guards.kind(right)
        if kinds & BIG:
            divides = isinstance(operator, DIVISIONS)
            return DIVIDE_BIG if divides else BIG_NATIVE
        compares = isinstance(operator, ast.cmpop)
        alike = kinds == FLOAT or not kinds & ~INT
        if alike or any(map(self._guards.turns_float, (left, right), (right, left))):
            if compares:
                return COMPARED
            if not kinds & FLOAT:
                return WHOLE
            return DIVIDED if isinstance(operator, DIVISIONS) else NATIVE
        if kinds & FLOAT and kinds & INT:
            return MIXED_COMPARED if compares else MIXED
        return NATIVE
