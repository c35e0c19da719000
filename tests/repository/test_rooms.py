"""The house: which room may know which, and what may stand in a module.

The table of rooms and the list of what modules keep are in docs/architecture.md, for people and for
this test alike. `house` reads the package and its imports, `state` looks for what modules keep.
Below the rules are tables of planted faults: each breaks a rule, in a small house, and is found.
"""

import re
from pathlib import Path

import pytest
from tests.cases import in_one_test
from tests.repository import state
from tests.repository.house import PACKAGE, House, read_house

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
FREE = ("_version", "_native")  # every room may know these
# Modules that import by a name which their source does not tell, and what they import.
COMPUTED_IMPORTS = {
    "__init__.py": "the public names, which the walk reads from their table",
    "frames.py": "pandas and polars",
    "server/identity.py": "the operator's own module",
    "sources/plugin.py": "functions that the operator names",
}
# The objects that modules keep and change. Memos of functions are the third kind of state.
CACHE = "chartpact.cache.Cache"
REQUEST = ("server/logs.py", "contextvars.ContextVar")  # the current request's id

Rooms = dict[str, frozenset[str]]


@pytest.fixture(scope="module")
def house() -> House:
    return read_house(ROOT / "src" / "chartpact")


def table(page: str | None = None) -> Rooms:
    """Each room of the page, from the bottom up, with the rooms it may know."""
    text = PAGE.read_text() if page is None else page
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", text, re.MULTILINE)
    rooms: Rooms = {}
    for room, may_know in rows:
        assert room not in rooms, f"{room} has two rows"
        names, but = may_know.replace("all above", " ".join(rooms)).split(), []
        if "but" in names:
            names, but = names[: names.index("but")], names[names.index("but") + 1 :]
            assert set(but) <= set(names), f"{room} excepts a room that is not above it"
        rooms[room] = frozenset(names) - set(but)
    return rooms


def room_of(module: str) -> str:
    parts = module.split(".")
    if parts[1:3] == ["contracts", "workbench"]:
        return "workbench"
    return parts[1] if len(parts) > 1 else PACKAGE


def forbidden_imports(house: House, rooms: Rooms) -> list[str]:
    """The imports that leave what the table allows, and those of which nobody can tell."""
    wrong = []
    for name, module in house.modules.items():
        room = room_of(name)
        if module.path not in COMPUTED_IMPORTS:
            lines = [node.lineno for node in module.nodes if None in module.imported_by_call(node)]
            wrong += [f"{module.path}:{line}: imports a computed name" for line in lines]
        if name != PACKAGE:
            may_know = {room, *FREE, *rooms.get(room, ())}
            targets = [(line, room_of(target)) for line, target in house.imports[name]]
            wrong += [
                f"{module.path}:{line}: {room} may not know {target}"
                for line, target in targets
                if target not in may_know
            ]
    return wrong


def find_circle(house: House) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    graph = {
        name: {target for _, target in imports if target in house.modules} - {name}
        for name, imports in house.imports.items()
    }
    done: set[str] = set()

    def walk(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module not in done:
            for target in sorted(graph[module]):
                is_above = module.startswith(f"{target}.")  # a package is there before its modules
                if not is_above and (circle := walk(target, [*way, module])):
                    return circle
            done.add(module)
        return []

    return next((circle for module in graph if (circle := walk(module, []))), [])


def kept_state(house: House) -> list[str]:
    """What modules keep beyond the list of the page."""
    found = []
    for module in house.modules.values():
        held = state.holders(house, module)
        findings = [
            *state.changes(house, module),
            *state.misplaced_memos(house, module),
            *(item for item in held if item[1] != CACHE and (module.path, item[1]) != REQUEST),
        ]
        found += [f"{module.path}:{line}: {what}" for line, what in findings]
    return found


def test_every_room_of_the_house_is_in_the_table(house):
    rooms = {room_of(module) for module in house.modules} - {PACKAGE, *FREE}
    assert sorted(rooms - set(table())) == []
    assert sorted(set(table()) - rooms) == []


def test_rooms_know_only_rooms_that_stand_above_them_in_the_table():
    above = set[str]()
    for room, may_know in table().items():
        assert may_know <= above, f"{room} may not know {sorted(may_know - above)}"
        above.add(room)


def test_no_import_leaves_what_the_table_allows(house):
    assert forbidden_imports(house, table()) == []


def test_no_two_modules_import_each_other_in_a_circle(house):
    assert find_circle(house) == []


def test_no_name_of_a_package_hides_one_of_its_modules(house):
    hidden = [name for module in house.modules.values() for name in house.hidden_modules(module)]
    assert hidden == []


def test_modules_keep_no_state_beyond_what_the_page_lists(house):
    assert kept_state(house) == []


SMALL_HOUSE = {
    "__init__.py": "_PUBLIC: dict = {'chart': ('chartpact.charts', 'chart')}",
    "_version.py": "VERSION = '1'",
    "cache.py": "class Cache:\n    def put(self, key, value): self.entries[key] = value",
    "prices.py": "DERIVED = {}\nclass Series:\n    names = []\ndef update(): ...",
    "ta/__init__.py": "from chartpact.ta.means import mean",
    "ta/means.py": "def mean(): ...",
    "charts.py": "def chart(): ...",
}
SMALL_TABLE: Rooms = {
    "cache": frozenset(),
    "prices": frozenset(),
    "ta": frozenset({"prices", "cache"}),
    "charts": frozenset({"prices", "ta"}),
}


def plant(path: str, source: str) -> House:
    return House(SMALL_HOUSE | {path: source})


def test_the_command_line_and_the_server_do_not_know_each_other():
    rooms = table()
    assert "server" not in rooms["cli"]
    assert "cli" not in rooms["server"]
    for path, source in (
        ("cli/serve.py", "from chartpact.server import app"),
        ("server/shell.py", "def f():\n    from chartpact.cli import main"),
        ("library/pictures.py", "from chartpact import render"),
    ):
        assert len(forbidden_imports(plant(path, source), rooms)) == 1, path


def test_a_row_may_except_rooms_of_those_above():
    page = "| `ta` | x | |\n| `bars` | x | all above |\n| `cli` | x | all above but bars |"
    assert table(page) == {"ta": set(), "bars": {"ta"}, "cli": {"ta"}}


def test_the_small_house_is_lawful():
    small = House(SMALL_HOUSE)
    assert forbidden_imports(small, SMALL_TABLE) == kept_state(small) == find_circle(small) == []


FORBIDDEN_IMPORTS = {
    "at the top": "from chartpact.charts import chart",
    "of a module": "from chartpact import charts",
    "under another name": "import chartpact.charts as above",
    "with dots": "from ..charts import chart",
    "with dots, of the root": "from .. import chart",
    "in a function": "def f():\n    from chartpact.charts import chart",
    "for type checkers": "if TYPE_CHECKING:\n    from chartpact.charts import chart",
    "by a public name": "def f():\n    from chartpact import chart",
    "by a name that the root does not have": "from chartpact import nothing",
    "of every public name": "from chartpact import *",
    "of the root": "import chartpact",
    "of the root under another name": "import chartpact as cp",
    "of the root by the way": "import chartpact.prices",
    "by text": "import importlib\nimportlib.import_module('chartpact.charts')",
    "by text, of the root": "getattr(import_module('chartpact'), 'chart')",
    "by text with dots": "import_module('.charts', 'chartpact')",
    "by text and keyword": "import_module(name='chartpact.charts')",
    "by the beginning of a text": "import_module(f'chartpact.charts.{name}')",
    "by a text without a room": "import_module(f'chartpact.{name}')",
    "by the older function": "__import__('chartpact.charts')",
    "by a renamed function": "from x import import_module as load\nload('chartpact.charts')",
    "by an object's name": "pkgutil.resolve_name('chartpact.charts:chart')",
    "by a computed name": "import_module(name)",
}


@in_one_test("source", FORBIDDEN_IMPORTS.values(), ids=FORBIDDEN_IMPORTS)
def test_an_import_that_the_table_forbids_is_found(source):
    assert len(forbidden_imports(plant("ta/means.py", source), SMALL_TABLE)) == 1


LAWFUL_IMPORTS = {
    "of a lower room": "from chartpact.prices import DERIVED",
    "of the own room": "from chartpact import ta",
    "of the own room, with dots": "from . import means",
    "of a module, under its name": "import chartpact.prices as prices",
    "of what every room may know": "from chartpact import _native, _version",
    "of other packages": "import numpy\nimport_module('pandas')",
    "by text": "import_module('chartpact.prices')",
}


@in_one_test("source", LAWFUL_IMPORTS.values(), ids=LAWFUL_IMPORTS)
def test_an_import_that_the_table_allows_is_not_reported(source):
    assert forbidden_imports(plant("ta/extremes.py", source), SMALL_TABLE) == []


def test_a_circle_is_found():
    circle = House(
        SMALL_HOUSE
        | {
            "charts.py": "from chartpact.ta import mean",
            "ta/means.py": "def mean():\n    from chartpact import chart",
        }
    )
    assert len(find_circle(circle)) == 4


HIDDEN_MODULES = {
    "by an import": "from chartpact.ta.means import mean as means",
    "by a function": "def means(): ...",
    "by a class": "class means: ...",
    "by one of two values": "mean, means = 1, 2",
    "in a branch": "try:\n    means = 1\nfinally:\n    pass",
    "by a star": "from chartpact.charts import *",
}


@in_one_test("source", HIDDEN_MODULES.values(), ids=HIDDEN_MODULES)
def test_a_name_that_hides_a_module_is_found(source):
    planted = House(SMALL_HOUSE | {"ta/__init__.py": source, "charts.py": "def means(): ..."})
    assert planted.hidden_modules(planted.modules["chartpact.ta"]) == ["chartpact.ta.means"]


def test_a_public_name_that_hides_a_module_is_found():
    planted = plant("chart.py", "")
    assert planted.hidden_modules(planted.modules[PACKAGE]) == ["chartpact.chart"]


def test_a_module_that_its_package_imports_is_not_hidden():
    planted = plant("ta/__init__.py", "from chartpact.ta import means")
    assert planted.hidden_modules(planted.modules["chartpact.ta"]) == []


KEPT_STATE = {
    "a rebound name": "n = 0\ndef f():\n    global n\n    n += 1",
    "a dictionary": "_d = {}\ndef f():\n    _d['x'] = 1",
    "a part that is removed": "_d = {}\ndef f():\n    del _d['x']",
    "a part of a part": "_d = {'x': {}}\ndef f():\n    _d['x']['y'] = 1",
    "a part by a method": "_d = {'x': {}}\ndef f():\n    _d.get('x').update(y=1)",
    "an annotated list": "_l: list[int] = []\ndef f():\n    _l.append(1)",
    "a list that is added to": "_l = [0]\ndef f():\n    _l[0] += 1",
    "one of two names": "_a, _b = {}, []\ndef f():\n    _b.append(1)",
    "a name of an if": "if True:\n    _d = {}\ndef f():\n    _d['x'] = 1",
    "a name of a try": "try:\n    _d = {}\nexcept OSError:\n    raise\ndef f():\n    _d['x'] = 1",
    "a name of a with": "with open('x') as _d:\n    pass\ndef f():\n    _d.update(x=1)",
    "a name of a for": "for _d in [{}]:\n    pass\ndef f():\n    _d['x'] = 1",
    "a lambda": "_l = []\nf = lambda: _l.append(1)",
    "an inner function": "_l = []\ndef f():\n    def g():\n        _l.append(1)",
    "a method": "_l = []\nclass C:\n    def f(self):\n        _l.append(1)",
    "a method that is passed on": "_l = []\ndef f(values):\n    any(map(_l.append, values))",
    "a local name for it": "_d = {}\ndef f():\n    d = _d\n    d['x'] = 1",
    "one of two local names": "_d = {}\ndef f():\n    d, n = _d, 1\n    d['x'] = n",
    "a name within an expression": "_d = {}\ndef f():\n    (d := _d)['x'] = 1",
    "a loop over its items": (
        "_d = {}\ndef f():\n    for name, row in _d.items():\n        row.append(name)"
    ),
    "a loop over it": "_d = {}\ndef f():\n    for row in _d.values():\n        row.append(1)",
    "an attribute of a function": "def f():\n    f.calls = 1",
    "a counter": "_c = iter(range(9))\ndef f():\n    return next(_c)",
    "a heap": "_h = []\ndef f():\n    heapq.heappush(_h, 1)",
    "the type's method": "_d = {}\ndef f():\n    dict.update(_d, x=1)",
    "globals": "def f():\n    globals()['x'] = 1",
    "globals by a method": "def f():\n    globals().update(x=1)",
    "vars of a class": "class C: ...\ndef f():\n    vars(C)['x'] = 1",
    "setattr of a class": "class C: ...\ndef f():\n    setattr(C, 'x', 1)",
    "setattr of the own module": "def f():\n    setattr(sys.modules[__name__], 'x', 1)",
    "a module imported by a text": "def f():\n    import_module('chartpact.prices').DERIVED = {}",
    "setattr of a module": "from chartpact import prices\ndef f():\n    setattr(prices, 'x', 1)",
    "an attribute of a class": "class C:\n    d = {}\ndef f():\n    C.d['x'] = 1",
    "a class that is rebound": "class C:\n    n = 0\ndef f():\n    C.n += 1",
    "a class by cls": "class C:\n    n = 0\n    @classmethod\n    def f(cls):\n        cls.n += 1",
    "a class by self": "class C:\n    d = {}\n    def f(self):\n        self.d['x'] = 1",
    "one of two by self": "class C:\n    a, b = 1, []\n    def f(self):\n        self.b.append(1)",
    "a base by self": (
        "from chartpact.prices import Series\nclass C(Series):\n"
        "    def f(self):\n        self.names.append(1)"
    ),
    "a class by type": "class C:\n    n = 0\n    def f(self):\n        type(self).n += 1",
    "a class by __class__": "class C:\n    def f(self):\n        self.__class__.n = 1",
    "a memo's value": (
        "from functools import cache\n@cache\ndef g(): ...\ndef f():\n    g()['x'] = 1"
    ),
    "a bounded memo's value": (
        "import functools\n@functools.lru_cache(1)\ndef g(): ...\ndef f():\n    g().append(1)"
    ),
    "an imported value": "from chartpact.prices import DERIVED as D\ndef f():\n    D.update(x=1)",
    "an imported value, on import": "from chartpact.prices import DERIVED\nDERIVED['x'] = 1",
    "an imported value, joined": "from chartpact.prices import DERIVED as D\nD |= {'x': 1}",
    "an imported value, in a function": (
        "def f():\n    from chartpact.prices import DERIVED\n    DERIVED.update(x=1)"
    ),
    "an imported class": "from chartpact.prices import Series\nSeries.names.append(1)",
    "a module's name": "from chartpact import prices\ndef f():\n    prices.DERIVED = {}",
    "a module's value": "import chartpact.prices as p\ndef f():\n    p.DERIVED.update(x=1)",
    "an object that changes itself": (
        "class R:\n    def note(self, x):\n        self.x = x\n_r = R()\ndef f():\n    _r.note(1)"
    ),
    "an object whose parts change": (
        "class R:\n    def note(self, x):\n        self.all.append(x)\nclass S(R): ...\n_r = [S()]"
    ),
    "a context variable": "from contextvars import ContextVar\nuser = ContextVar('user')",
    "a class's queue": "import queue\nclass C:\n    jobs = queue.Queue()",
    "a method's memo": "from functools import cache\nclass C:\n    @cache\n    def f(self): ...",
    "a method's bounded memo": (
        "import functools\nclass C:\n    @functools.lru_cache(64)\n    def f(self): ..."
    ),
    "a class's memo": "from functools import cache\n@cache\nclass C: ...",
    "a memo of an object's method": "from functools import cache\nf = cache(pool.fetch)",
} | {
    f"{method} of a value": f"_v = make()\ndef f():\n    _v.{method}()"
    for method in ("popleft", "appendleft", "extendleft", "sort", "setdefault", "discard", "clear")
}


@in_one_test("source", KEPT_STATE.values(), ids=KEPT_STATE)
def test_state_that_a_module_keeps_is_found(source):
    assert len(kept_state(plant("charts.py", source))) == 1


LAWFUL_STATE = {
    "a table that the import fills": "_d = {}\nfor n in 'ab':\n    _d[n] = 1\n_d.update(c=1)",
    "a class that the import fills": "class C: ...\nsetattr(C, 'x', 1)\nC.y = 2",
    "a class that its base fills": (
        "class C:\n    def __init_subclass__(cls):\n        cls.x = 1\n        setattr(cls, 'y', 1)"
    ),
    "a local value": "def f():\n    d = {}\n    d['x'] = 1",
    "a local value of a module's name": "d = {}\ndef f(d):\n    d['x'] = 1",
    "a copy": "_d = {}\ndef f():\n    d = dict(_d)\n    d['x'] = 1",
    "a local name that becomes a copy": "_l = []\ndef f():\n    l = _l\n    l = [*l]\n    l.sort()",
    "an inner function's outer value": "def f():\n    l = []\n    return lambda: l.append(1)",
    "an object's own value": (
        "class C:\n    def __init__(self):\n        self.d = {}\n"
        "    def f(self):\n        self.d['x'] = 1"
    ),
    "an object's own value, declared": (
        "class C:\n    d = {}\n    def __init__(self):\n        self.d = {}\n"
        "    def f(self):\n        self.d['x'] = 1"
    ),
    "a function of a module": "from chartpact import prices\ndef f():\n    prices.update()",
    "a function of another package": "import numpy as np\ndef f():\n    return np.add(1, 2)",
    "another package's value": "import os\ndef f():\n    os.environ['x'] = 'y'",
    "the bounded cache": (
        "from chartpact.cache import Cache\n_c: Cache[str, int] = Cache(9)\n"
        "def f():\n    _c.put('x', 1)"
    ),
    "a function's memo": "from functools import cache\n@cache\ndef f(): ...\ng = cache(f)",
    "a function's bounded memo": (
        "from functools import lru_cache\ndef f(): ...\ng = lru_cache(64)(f)"
    ),
    "a memo within a call": "from functools import cache\ndef f(pool):\n    g = cache(pool.fetch)",
    "an object's memo": (
        "import functools\nclass C:\n    @functools.cached_property\n    def f(self): ..."
    ),
    "an object that is only made": (
        "class R:\n    def __init__(self):\n        self.x = 1\n    def get(self): ...\n_r = R()"
    ),
}


@in_one_test("source", LAWFUL_STATE.values(), ids=LAWFUL_STATE)
def test_what_a_module_may_keep_is_not_reported(source):
    assert kept_state(plant("charts.py", source)) == []


def test_the_context_variable_of_the_current_request_is_lawful_in_its_place_alone():
    source = "import contextvars\nrequest = contextvars.ContextVar('request')"
    assert kept_state(plant("server/logs.py", source)) == []
    assert len(kept_state(plant("server/app.py", source))) == 1
