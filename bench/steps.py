"""What a step takes, for every operation of the language: 50 ns at the median is the promise.

    make steps                           the outliers, in ns a step (about four minutes)
    python bench/steps.py --all          every operation
    python bench/steps.py --only WORD    those whose text has the word
    python bench/steps.py --write        also puts the table into docs/benchmarks.md

Ten million steps are to take half a second at most, so each operation is charged by what it costs
where it is slowest: short and long values, few and many, short and long series. Each is repeated in
a loop, and what the loop's preparation takes is subtracted. Times are processor time, corrected by
the pace of the machine: what a loop of plain Python takes beside them, against the least that it
took in all. Of several rounds the median counts: what is steadily above the promise is to be
weighed again. Series of subnormal numbers (`tiny`) stay
above it on processors that need microcode for them; the time limit of a run bounds them.
"""

import argparse
import gc
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from inspect import Parameter
from math import isnan
from statistics import median

import sandbox
from chartpact import script
from chartpact.bars import Bars
from chartpact.script.host import chart, handles, ta
from chartpact.script.program import Program
from chartpact.script.runtime import builtins, methods
from page import machine, put

STEPS = 150_000  # of one measurement
PROMISE_NS = 50
MOST_SHOWN = 25
SIZES = (1, 30, 3_000, 100_000)
BARS = (100, 5_000, 100_000)

HEAD = """PARAMS = [{"name": "turns", "type": "int", "default": 0}]
META = {"title": "Steps", "max_labels_count": 500, "max_lines_count": 500, "max_boxes_count": 500}
def double(x):
    return x + x
def nothing():
    return None
def several(a, b = 1, c = 2, *rest, **named):
    return a
def last(series, i):
    return series[i]
def close(bars, i):
    return bars.close[i]
def first(values):
    for each in values:
        return each
"""


@dataclass(frozen=True)
class Case:
    """A statement to repeat, what to prepare for it, and the bars of its chart."""

    statement: str
    setup: str = ""
    bars: int = 100

    @property
    def name(self) -> str:
        shared = self.setup in ("", SERIES_SETUP, CHART_SETUP)
        told = self.statement if shared else f"{self.setup}; {self.statement}"
        if self.setup == FULL_TABLE:
            told = f"{self.statement} (a full table)"
        return told if self.bars == min(BARS) else f"{told} ({self.bars:,} bars)"


# `{n}` stands for each of SIZES.
STATEMENTS = """
pass
x = i
x = 1.5 * 2.5
x = i + 1
x = i - 1 < 5
x = -i
x = not i
x = i and 1 or 2
x = 1 if i else 2
a, b = i, i
(a, (b, c)) = (i, (i, i))
x = (i, i, i)
x = []
x = [i, i, i]
x = {}
x = {"a": i, "b": i}
x = i // 3
x = i % 3
x = i / 3
x = i & 3
x = i << 3
x = ~i
x = i == 3
x = None == i
x = "a" == "b"
x = double(i)
x = nothing()
x = several(i)
x = several(i, c = 3)
x = several(i, 2, 3, 4, 5)
x = several(i, z = 3)
x = several(*[1, 2, 3])
x = [double(j) for j in (i, i)]
if i > 5: x = double(double(double(double(double(double(double(i)))))))
if i > 5: x = [1, 2, 3, 4, 5, 6, 7]
a, b = [i, i]
a, b = double([i])
a, b = double((i,))
x = several(**{"a": 1, "z": 2})
x = lambda: i
x = (lambda: i)()
x = first([i])
x = [j for j in (1,)]
x = [j for j in ()]
x = {j: j for j in (1,)}
x = [j for j in (1,) if j]
x = [(j, k) for j in (1,) for k in (2,)]
x = [a for a, b in [(1, 2)]]
x = range(5)
x = len(ohlcv)
x = f"{i}"
x = f"{i} {i} {i}"
x = "%s" % i
x = "%d %f %g %e" % (i, 1.5, 1.5, 1.5)
x = "{}".format(i)
x = "{a} {b}".format(a = i, b = i)
x = str(i)
x = str(1.2345678901234e-7)
x = repr(i)
x = repr("a")
x = str(None)
x = str(double)
x = int("5")
x = int("ff", 16)
x = int(5.5)
x = int(1e308)
x = float("1.5")
x = float("1.7976931348623157e308")
x = float(i)
x = bool(i)
x = abs(-1.5)
x = abs(i)
x = min(i, 5)
x = max(1.5, 2)
x = max(1.5, 2.5, 3.5)
x = max(i, 1.5, 2)
x = min(1.5, 2.5, i, 3.5)
x = max(i, 1.5, 2, 3.5, 4, i, 5)
x = [max(i, 1.5, 2) for j in (1,)]
x = min([i, 5])
x = max("a", "b")
x = min(i, 5, key = double)
x = sorted([3, 1, 2])
x = sorted(["b", "a"])
x = sorted([(2,), (1,)])
x = sorted([2, 1], key = double)
x = sorted([2, 1], reverse = True)
x = type(i)
x = type(ohlcv)
x = zip([1], [2])
x = zip()
x = enumerate([1])
x = reversed([1])
x = list((1,))
x = tuple([1])
x = dict(a = 1)
x = dict([("a", 1)])
x = any([0])
x = all([1])
x = ohlcv.close
x = ohlcv.symbol
x = ohlcv.tick_size
x = ohlcv.close[5]
x = ohlcv.close[i % 100]
x = ohlcv.close[i % 100 - 1]
x = last(ohlcv.close, 5)
x = close(ohlcv, 5)
x = "a".upper
x = chart.line
print(i)
print("a", "b", sep = "-")
x = text.number(1.5, 2)
x = text.number(1.2345678901234e-7)
x = text.number(1e300, 16)
x = text.time(1700000000000)
x = text.time(1700000000000 + i * 86400000, "yyyy-MM-dd HH:mm:ss.SSS Z", "America/New_York")
x = text.time(1700000000000 + i * 86400000, "d" * 1 + " EEEE" * 19, "Asia/Kathmandu")
x = text.time(1700000000000, "%Y%m%d%H%M%S" * 8)
x = text.time(1700000000000, "'" + "a" * 90 + "'")
x = payload.json({})
x = payload.json({"a": 1.5, "b": None, "c": "d"})
x = payload.json({"a": [1, 2, [3, 4]], "b": {"c": True}})
x = payload.label({"A": 1.5, "B": "c"})
x = payload.label({"A": True}, tag = "T")
x = ta.isna(1.5)
x = ta.nz(None)
x = ta.nz(1.5)
x = ta.nz(1.5, 0)
x = ta.nz(None, 0)
x = ta.nz(i, 0)
x = ta.nz(True, 0)
x = ta.max(1.5, 2.5)
x = ta.max(i, 0)
x = ta.min(0.0, 0.0)
x = ta.min(0.0, -0.0)
x = ta.max(1.5, 2.5, i)
x = ta.max(None, 1.5, 2.5, 3.5)
x = ta.avg(i, 1.5, 2.5, 3.5)
x = ta.pow(1.5, 2)
x = ta.pow(-1.5, 2.5)
x = ta.pow(i, None)
x = ta.mod(7.5, i + 1)
x = ta.sub(i, None)
x = ta.round(1.5)
x = ta.round(i)
x = ta.round(2.345, 2)
x = ta.round(1e15 / 3, 16)
x = ta.round(None)
x = ta.floor(1.5)
x = ta.ceil(i)
x = ta.floor(1e300)
x = ta.abs(-1.5)
x = ta.abs(i)
x = ta.log(1.5)
x = ta.log(i + 1)
x = ta.exp(1.5)
x = ta.exp(1e5)
x = ta.sqrt(2.0)
x = ta.hour(1700000000000)
x = ta.year(1700000000000)
x = ta.weekofyear(1700000000000)
x = ta.time_tradingday(1700000000000)
x = i * 1.5
x = i < 1.5
x = 1.5 < 2
x = abs(1.5 - i)
x = math.sqrt(2.0)
x = math.sqrt(i)
x = math.sqrt(-1.0)
x = math.sqrt(None)
x = [math.sqrt(j) for j in (2.5,)]
x = math.exp(1.5)
x = math.exp(1000.5)
x = math.log(1.5)
x = math.pow(1.5, 2)
x = math.pow(i, 2)
x = math.pow(1.5, 2.5)
x = math.pow(-1.5, 2)
x = math.pow(1e200, 2)
x = math.floor(1.5)
x = math.floor(i)
x = range(2, i)
for j in range(2): break
x = math.floor(1e308)
x = math.round(2.5)
x = math.round(2.345, 2)
x = math.sin(i)
x = math.pi
x = sum([])
x = math.avg([i])
x = color.alpha("red", 0.5)
x = color.mix("red", "#12345678", 0.3)
x = color.gradient(i, 0, 100, "red", "green")
x = ta.hour(1700000000000, "America/New_York")
x = ta.session(1700000000000 + i * 86400000, "0930-1600", "America/New_York")
"""

# setup | statement, `{n}` being each of SIZES
SIZED = """
rs = [[1.5] * {n}, None]; r = rs[0] | x = r[0]
rs = [[{n}], None]; r = rs[0] | x = r[0] == 1
rs = [[{n}], None]; r = rs[0] | x = r[0] != -1
rs = [[{n} + 0.5], None]; r = rs[0] | x = r[0] < 5
rs = [({n},), None]; r = rs[0] | x = r[0] == 1
rs = [[{n} + 0.5], None]; r = rs[0] | x = max(r[0], 5, 1.5)
rs = [[{n}], None]; r = rs[0] | x = max(r[0], 1.5, 2.5)
rs = [{j: j for j in range({n})}, None]; r = rs[0] | x = r[0]
rs = [{j: j for j in range({n})}, None]; r = rs[0] | k = i % {n}; x = r[k]
s = "a" * {n} | x = s + "b"
s = "é" * {n} | x = s + "b"
s = "a" * {n} | x = s == s[:]
s = "a" * {n}; t = "a" * {n} | x = s == t
s = "a" * {n}; t = "a" * {n} | x = s < t
s = "a" * {n} | x = s[1:]
s = "é𝄞" * ({n} // 2) | x = s[1:]
s = "a" * {n} | x = s[::-1]
s = "a" * {n} | x = s[0]
s = "a" * {n} | x = "b" in s
s = "a" * {n} | x = "aab" in s
s = "ab" * ({n} // 2); t = "ab" * 30 + "c" | x = t in s
s = "a" * {n}; t = "a" * ({n} // 2) + "b" | x = t in s
s = "a" * {n}; t = "b" + "a" * ({n} // 2) | x = t in s
s = "a" * {n}; t = "a" * 99 + "b" | x = s.find(t)
s = "a" * {n}; t = "b" + "a" * 99 | x = s.find(t)
s = "a" * {n}; t = "a" * 50 + "b" + "a" * 50 | x = s.count(t)
s = "a" * {n}; t = "b" + "a" * 15 | x = s.rfind(t)
s = "a" * {n}; t = "b" + "a" * 99 | x = s.rfind(t)
s = "a" * {n} | x = s.count("a")
s = "a" * {n} | x = s.count("")
s = "a" * {n} | x = s.index("a")
s = "a" * {n} | x = s.replace("a", "b")
s = "a" * {n} | x = s.replace("", "")
s = "a" * {n} | x = s.replace("b", "c")
s = "a" * {n} | x = s.replace("a", "")
s = "ab" * ({n} // 2) | x = s.replace("ab", "abc")
s = "a," * ({n} // 2) | x = s.split(",")
s = "a " * ({n} // 2) | x = s.split()
s = " " * {n} | x = s.split()
s = "a" * {n} | x = s.split("b")
s = "a" * {n}; t = "a" * 99 + "b" | x = s.split(t)
s = "a," * ({n} // 2) | x = s.rsplit(",")
s = "a" * {n}; t = "b" + "a" * 15 | x = s.rsplit(t)
s = "a" * {n}; t = "b" + "a" * 16 | x = s.rsplit(t)
s = "a\\n" * ({n} // 2) | x = s.splitlines()
s = "a" * {n} | x = s.splitlines()
s = "\\n" * {n} | x = s.splitlines(True)
s = "a" * {n} | x = s.elems()
s = "é" * {n} | x = s.elems()
s = "a" * {n} | x = s.upper()
s = "é" * {n} | x = s.upper()
s = "ß" * {n} | x = s.upper()
s = "İ" * {n} | x = s.lower()
s = "Σ" * {n} | x = s.lower()
s = "ΐ" * ({n} // 3) | x = s.title()
s = "a b" * ({n} // 3) | x = s.title()
s = "é" * {n} | x = s.capitalize()
s = "a" * {n} | x = s.isalnum()
s = "é" * {n} | x = s.isalpha()
s = "٣" * {n} | x = s.isdigit()
s = "a" * {n} | x = s.islower()
s = "1" * {n} | x = s.islower()
s = "1" * {n} | x = s.istitle()
s = "1" * {n} | x = s.isupper()
s = " " * {n} | x = s.isspace()
s = " " * {n} | x = s.strip()
s = " " * {n} | x = s.lstrip()
s = " " * {n} | x = s.rstrip()
s = "a" * {n}; t = "b" + "a" * 15 | x = s.rindex("a"); x = s.rfind(t)
s = "a" * {n} | x = s.strip("bcdefghijklmnopqrstuvwxyz0123456789a")
s = "é" * {n} | x = s.strip("àáâãäåæçèêëìíîïðñòóôõöøùúûüýþÿé")
s = "a" * {n} | x = s.startswith(s)
s = "a" * {n} | x = s.endswith(("b",) * 20)
s = "a" * {n} | x = s.removeprefix("b")
s = "a" * {n} | x = s.removeprefix("a")
s = "a" * {n} | x = s.removesuffix("a")
s = "a" * {n} | x = s.partition("b")
s = "a" * {n} | x = s.rpartition("b")
s = "a" * {n}; t = "b" + "a" * 15 | x = s.rpartition(t)
s = ["a"] * {n} | x = "".join(s)
s = ["é"] * {n} | x = "𝄞".join(s)
s = "{}" * ({n} // 2); t = [1] * ({n} // 2) | x = s.format(*t)
s = "{{}}" * ({n} // 4) | x = s.format()
s = "a" * {n} | x = s.format()
s = "a" * {n}; t = s + "𝄞" | x = s < t
s = "%s" * ({n} // 2); t = (1,) * ({n} // 2) | x = s % t
s = "%%" * ({n} // 2) | x = s % ()
s = "%e" * ({n} // 2); t = (1.2345e-300,) * ({n} // 2) | x = s % t
s = "%f" * ({n} // 20); t = (1.2345e300,) * ({n} // 20) | x = s % t
s = "a" * {n} | x = f"{s}{s}"
s = "a" * {n} | x = "{}".format(s)
s = "a" * {n} | x = repr(s)
s = "\\n" * {n} | x = repr(s)
s = "\\x01" * {n} | x = repr(s)
s = "a" * {n} | print(s)
s = "1" * min({n}, 300) | x = int(s)
s = "z" * min({n}, 190) | x = int(s, 36)
s = "1" * min({n}, 300) | x = float(s)
s = "1" * {n} | x = {s: 1}
s = "1" * {n}; d = {s: 1} | x = d[s[:-1] + "1"]
s = "1" * {n} | x = (s, s) == (s[:-1] + "1", s[:-1] + "1")
v = [1] * {n} | x = v + v
v = [1] * {n} | x = v * 2
v = [1] * {n} | x = v[1:]
v = [1] * {n} | x = v[::2]
v = (1,) * {n} | x = v[1:]
v = [[]] * {n} | x = v[1:]
v = [1] * {n} | x = v[0]
v = [1] * {n}; w = [1] * {n} | x = v == w
v = [1] * {n}; w = [1] * {n} | x = v < w
v = [None] * {n}; w = [None] * {n} | x = v == w
v = [True] * {n}; w = [True] * {n} | x = v == w
v = ["a"] * {n}; w = ["a"] * {n} | x = v == w
v = ["a" * 60] * {n}; w = ["a" * 59 + "a"] * {n} | x = v == w
v = [(1,)] * {n}; w = [(1,) + ()] * {n} | x = v == w
v = [[]] * {n}; w = [[] for j in range({n})] | x = v == w
v = [[j] for j in range({n})]; w = [[j] for j in range({n})] | x = v == w
v = [[j] for j in range({n})]; w = [[j] for j in range({n})] | x = v < w
v = [{j: j} for j in range({n})]; w = [{j: j} for j in range({n})] | x = v == w
v = [range(1)] * {n}; w = [range(1)] * {n} | x = v == w
v = [1] * {n} | x = 2 in v
v = [1.5] * {n} | x = 2 in v
v = [True] * {n} | x = 1 in v
v = [True] * {n} | x = 2 in v
v = ["a" * 40] * {n} | x = ("a" * 39 + "b") in v
v = [1] * {n} | x = "a" in v
v = [[1]] * {n} | x = [2] in v
v = [[1, 1, 1]] * {n} | x = [1, 1, 2] in v
v = [(1,)] * {n} | x = (2,) in v
v = [ohlcv.close] * {n} | x = 1 in v
v = [ohlcv.close] * {n} | x = None in v
v = [ohlcv.close > 1] * {n} | x = "a" in v
v = [()] * {n} | x = (1,) in v
v = [()] * {n} + [(1,)] | x = v.index((1,))
v = [double] * {n} | x = nothing in v
v = [1] * {n} | x = v.index(1)
v = [1] * {n} + [2] | x = v.index(2)
v = [1] * {n} | v.insert(0, 1); v.pop(0)
v = [1] * {n} | v.append(1)
v = [1] * {n} | v.pop(); v.append(1)
v = [1] * {n} | x = v.pop(0); v.append(1)
v = [1] * {n} + [2] | v.remove(2); v.append(2)
v = [1] * {n} | x = list(v)
v = [1] * {n} | x = tuple(v)
v = [[]] * {n} | x = list(v)
v = [1] * {n} | x = sorted(v)
v = [(j * 7919) % {n} for j in range({n})] | x = sorted(v)
v = [((j * 7919) % {n}) * 1.5 for j in range({n})] | x = sorted(v)
v = [((j * 7919) % {n}) * 1.5 + (0 if j % 2 else j) for j in range({n})] + [1] | x = sorted(v)
v = [str((j * 7919) % {n}) for j in range({n})] | x = sorted(v)
v = [("a" * 60) + str((j * 7919) % {n}) for j in range({n})] | x = sorted(v)
v = [((j * 7919) % {n},) for j in range({n})] | x = sorted(v)
v = [(1, 1, (j * 7919) % {n}) for j in range({n})] | x = sorted(v)
v = [(j * 7919) % {n} for j in range({n})] | x = sorted(v, key = lambda j: -j)
v = [(j * 7919) % {n} for j in range({n})] | x = sorted(v, reverse = True)
v = [1.5] * {n} | x = max(v)
v = [1] * {n} | x = min(v)
v = [(1 << 1000) + j for j in range({n})] | x = max(v)
v = [1.5, float("nan")] * {n} | x = max(v)
v = [1.5, 2] * {n} | x = max(v)
v = [1.5] * {n} | x = sum(v)
v = [1 << 1000] * {n} | x = sum(v)
v = [1e300, -1e-300, 1.5] * {n} | x = sum(v)
v = [1.5, None] * {n} | x = math.avg(v)
v = [float(j * 7919 % 1009) for j in range({n})] | x = math.median(v)
v = [str(j) for j in range({n})] | x = color.alpha(["red"] * {n}, 0.5)
v = ["a"] * {n} | x = max(v)
v = [(1,)] * {n} | x = max(v)
v = [1.5] * {n} | x = max(v, key = double)
v = [1.5] * {n} | x = max(v, key = lambda j: j)
x = range({n}) | x = max(range({n}))
v = [1] * {n} | x = reversed(v)
v = [1] * {n} | x = enumerate(v)
v = [1] * {n} | x = zip(v)
v = [1] * {n} | x = zip(v, v, v)
v = [[1]] * {n} | x = zip(*v)
v = [[1, 2]] * {n} | x = zip(*v)
v = [(1,)] * {n} | x = zip(*v)
v = [range(1)] * {n} | x = zip(*v)
v = [{1: 1}] * {n} | x = zip(*v)
v = [[]] * {n} | x = zip(*v)
v = [[]] * {n} + [[1]] | x = zip([1], [2], *v)
v = [1] * {n} | x = several(*v)
v = [1] * {n} | x = max(1, *v)
v = {"k" + str(j): j for j in range({n})} | x = several(1, **v)
v = {"k" + str(j): j for j in range({n})} | x = dict(**v)
v = [0] * {n} | x = any(v)
v = [[]] * {n} | x = any(v)
v = [1] * {n} | x = all(v)
v = [1] * {n} | x = str(v)
v = [1.2345678901234e-7] * {n} | x = str(v)
v = ["a"] * {n} | x = str(v)
v = [None] * {n} | x = str(v)
v = [double] * {n} | x = str(v)
v = [[]] * {n} | x = str(v)
v = [(1,)] * {n} | x = str(v)
v = {j: j for j in range({n})} | x = str(v)
v = [1] * {n} | for each in v: pass
v = [1] * {n} | for each in v: break
v = [1] * {n} | for j, each in enumerate(v): pass
v = [1] * {n} | for j, each in enumerate(v): break
v = [1] * {n} | for a, b in zip(v, v): pass
v = [(1, 2)] * {n} | for a, b in v: pass
v = [[1, 2]] * {n} | for a, b in v: pass
v = [1] * {n} | x = [each for each in v]
v = [1] * {n} | x = {each: 1 for each in v}
v = list(range({n})) | x = {each: 1 for each in v}
v = [str(j) for j in range({n})] | x = {each: 1 for each in v}
v = [(j, j) for j in range({n})] | x = {each: 1 for each in v}
v = [1] * {n} | x = [each for each in v if each > 1]
v = [[1]] * {n} | x = [e for each in v for e in each]
v = [[]] * {n} | x = [e for each in v for e in each]
v = {j: j for j in range({n})} | for each in v: pass
v = {j: j for j in range({n})} | for each in v: break
v = {j: j for j in range({n})} | x = v.items()
v = {j: j for j in range({n})} | x = v.keys()
v = {j: j for j in range({n})} | x = v.values()
v = {j: j for j in range({n})} | x = dict(v)
v = {j: j for j in range({n})} | x = v | v
v = {j: j for j in range({n})}; w = {j: j for j in range({n})} | x = v == w
v = {str(j): j for j in range({n})}; w = {str(j): j for j in range({n})} | x = v == w
v = {j: j for j in range({n})} | x = v.get(i)
v = {j: j for j in range({n})} | x = i in v
v = {j: j for j in range({n})} | x = v[i % {n}]
v = {"k" + str(j): j for j in range({n})} | x = v["k0"]
v = [{"k" + str(j): j for j in range({n})}]; w = v[0] | x = w["k0"]
v = {j: j for j in range({n})} | v[0] += 1
v = {(j, j): j for j in range({n})} | x = dict(v)
v = {j: j for j in range({n})}; w = {j + 100000: j for j in range({n})} | x = v | w
v = [j * 1.5 for j in range({n})] | x = {each: 1 for each in v}
v = {j: j for j in range({n})} | v[i] = 1
v = {j: j for j in range({n})} | x = v.setdefault(i, 1)
v = {j: j for j in range({n})} | v.update({1: 1})
v = {j: j for j in range({n})} | v.update([(1, 1)])
v = {j: j for j in range({n})} | v.pop(0); v[0] = 1
v = {j: j for j in range({n})} | x = v.popitem(); v[x[0]] = 1
v = {j: j for j in range({n})}; w = [v.pop(j) for j in range({n} // 2)] | v[i] = v.popitem()
v = {j: j for j in range({n})}; w = [v.pop(j) for j in range({n} - 1)] | x = v.keys()
v = [(j, j) for j in range({n})] | x = dict(v)
v = (1,) * {n} | x = {v: 1}
v = ((1,),) * {n} | x = {v: 1}
v = (1,) * {n}; w = {v: 1} | x = v in w
v = [1] * {n} | x = list(v); x.extend(v)
v = [1] * {n} | x = list(v); x += v
v = [1] * {n} | x = list(v); x.clear()
v = [{"a": 1}] * min({n}, 100) | x = payload.json({"a": v})
v = [1.5] * min({n}, 800) | x = payload.json({"a": v})
v = ["é"] * min({n}, 800) | x = payload.json({"a": v})
v = "é" * min({n}, 4000) | x = payload.json({"a": v})
v = "\\x01" * min({n}, 600) | x = payload.json({"a": v})
v = "é" * min({n}, 4000) | x = payload.label({"A": v})
v = {"A" + str(j): 1.2345678e-7 for j in range(min({n}, 200))} | x = payload.label(v)
v = {"A" + str(j): None for j in range({n})} | x = payload.label(v)
b = 1 << min({n}, 1000) | x = b + 1
b = 1 << min({n}, 1000) | x = b * 2
b = (1 << min({n}, 500)) - 1 | x = b * b
b = (1 << min({n}, 1000)) - 1; c = (1 << min({n}, 500)) - 3 | x = b // c
b = (1 << min({n}, 1000)) - 1; c = (1 << min({n}, 500)) - 3 | x = b % c
b = (1 << min({n}, 1000)) - 1; c = (1 << min({n}, 500)) - 3 | x = b / c
b = (1 << min({n}, 1000)) - 1 | x = b // 7
b = (1 << min({n}, 1000)) - 1 | x = b % 7
b = (1 << min({n}, 1000)) - 1 | x = b / 7
b = (1 << min({n}, 1000)) - 1 | x = 7.5 * b
b = (1 << min({n}, 1000)) - 1 | x = b - 7
b = (1 << min({n}, 1000)) - 1 | x = b >> 7
b = (1 << min({n}, 1000)) - 1 | x = int(str(b))
b = (1 << min({n}, 1000)) - 1 | x = b & b
b = (1 << min({n}, 1000)) - 1 | x = b == b + 0
b = (1 << min({n}, 1000)) - 1 | x = b < 1.5
b = (1 << min({n}, 1000)) - 1 | x = str(b)
b = (1 << min({n}, 1000)) - 1 | x = [b] == [b + 0]
b = (1 << min({n}, 1000)) - 1 | x = "%d" % b
b = (1 << min({n}, 1000)) - 1 | x = "%x" % b
b = (1 << min({n}, 1000)) - 1 | x = float(b)
b = (1 << min({n}, 1000)) - 1 | x = abs(b)
b = (1 << min({n}, 1000)) - 1 | x = max(b, 1.5, b)
b = (1 << min({n}, 1000)) - 1 | x = max(b, 1.5, b, b, b, b, b, 2.5)
b = (1 << min({n}, 1000)) - 1 | x = -b
b = (1 << min({n}, 1000)) - 1 | x = text.number(b)
b = (1 << min({n}, 1000)) - 1 | x = text.number(b, 16)
b = (1 << min({n}, 1000)) - 1 | x = payload.json({"a": b})
b = [(1 << min({n}, 1000)) - 1] * 20 | x = str(b)
b = [(1 << min({n}, 1000)) - 1] * 20; c = [(1 << min({n}, 1000)) - 1 + 0] * 20 | x = b == c
b = 1.5 | for j in range(min({n}, 3000)): pass
b = 1.5 | x = [j for j in range(min({n}, 3000))]
b = 1.5 | x = [[j] for j in range(min({n}, 3000))]
b = 1.5 | x = [{} for j in range(min({n}, 3000))]
b = 1.5 | x = [(j, j) for j in range(min({n}, 3000))]
b = 1.5 | x = {j: j for j in range(min({n}, 3000))}
b = 1.5 | x = [str(j) for j in range(min({n}, 3000))]
v = [{"a": 1.5, "b": 2}]; d = v[0] | x = i > d["b"]
v = [{"a": 1.5, "b": 2}]; d = v[0] | d["a"] = i
v = [{"a": 1.5, "b": 2}]; d = v[0] | d["a"] += 1.5
v = 1 | x = {}; x["a"] = i; x["b"] = i; x["c"] = i; x["d"] = i; x["e"] = i; x["f"] = i
v = [1.5] * {n} | x = len(v)
v = [{"a": 1.5, "b": 2}]; d = v[0] | x = 2.5 > d["a"] and d["b"] and d["a"]
b = 1.5 | x = [lambda: j for j in range(min({n}, 3000))]
"""

SERIES = """
x = a + b
x = a - 1
x = a * b
x = a / b
x = a // b
x = a // 3.7
x = a % b
x = a % 0.37
x = -a
x = +a
x = a < b
x = a == b
x = a != 1.5
x = c & d
x = c | True
x = ~c
x = c == d
x = a[1:]
x = a[::2]
x = a[::-1]
x = ta.where(c, a, b)
x = a + l
x = a < l
x = c & m
x = ta.ema(l, 5)
x = a[len(a) - 1]
x = (a + 1)[0]
x = (a + 1)[0:1]
x = ohlcv.time + 1
x = ohlcv.time == ohlcv.time
x = big * big
x = na + na
x = tiny * 0.5
x = tiny + tiny
x = tiny / 3
x = tiny < b
x = ta.sma(tiny, 14)
x = ta.ema(tiny, 14)
x = ta.ema(na, 14)
x = ta.stdev(na, 14)
x = ta.rsi(tiny, 14)
x = ta.linreg(tiny, 14)
x = ta.log(-a)
x = ta.sqrt(-a)
x = ta.exp(big)
x = ta.exp(-big)
x = ta.pow_scalar(a, 0.37)
x = ta.pow(a, tiny)
x = ta.pow(-a, b)
x = ta.round(a, 2)
x = ta.round(big, 2)
x = ta.sum(na, 14)
x = ta.highest(na, 14)
x = ta.wma(na, 14)
x = ta.percentrank(na, 14)
x = ta.cci(na, 14)
x = ta.max(a, b, a, b)
x = ta.avg(a, b, a, b)
x = ta.max(*([a] * 200))
x = ta.avg(*([a] * 200))
x = ta.valuewhen(c, a, 5)
x = ta.profile(ohlcv, 500)
x = ta.profile(a * 0 + 9, a * 0 + 1, a, 24)
x = ta.profile(ohlcv, 24, spread = False)
x = ta.profile_levels(ohlcv, ohlcv.bar_index == 0, 500)
x = ta.barssince(a < 0)
x = big // b
x = big % b
x = big % 1e-300
x = a % tiny
for e in a + 1: pass
for e in a + 1: break
x = [e for e in a]
x = list(a)
x = tuple(a)
x = zip(a, b)
x = a in [1]
x = str(a)
x = ohlcv.resample("1D")
x = ohlcv.resample("7m") if False else ohlcv.resample("10m")
x = ohlcv.security("1D")
x = ohlcv.security("1W").close
x = ohlcv.security("10m").hlcc4
x = ohlcv.resample("10m").close_time
x = ohlcv.resample("10m").trading_day
x = ohlcv.resample("10m").first_bar
x = ohlcv.resample("1D", partial = True).whole
x = ohlcv.security("10m").close_time
"""
SERIES_SETUP = (
    "a = ohlcv.close; b = ohlcv.open; c = a > b; d = a < b; l = list(a); m = list(c); "
    "big = a * 1e200; na = ta.where(c, a, float('nan')); tiny = a * 1e-312"
)

CHART = """
chart.line(a)
chart.line(a, title = "x", color = "red", width = 2, style = "line")
chart.line(a, color = colors)
chart.line(a, offset = 5)
chart.line(l)
chart.fill(a, b)
chart.fill(a, 0)
chart.fill(a, b, color = colors)
chart.bars(a)
chart.bars(a, color = colors)
chart.candles(b, a, b, a)
chart.candles(b, a, b, a, color = colors, wick = colors, border = colors)
chart.background(colors)
chart.background("red")
chart.bar_color(ta.where(c, "red", "blue"))
chart.shape(c)
chart.shape(all, "labelup", "top", colors, text = "x")
chart.shape(all, text = texts)
chart.shape(a, location = "absolute")
chart.dot(c, a)
chart.dot(c, a, label = "x")
chart.dot(c, a, color = colors)
chart.dot(all, a)
chart.dot(all, a, label = "x", color = colors)
chart.dot(m, l)
chart.dot(i % 100, 1.5)
chart.dot(i % 100, 1.5, label = "x")
chart.dot(i % 100, 1.5, color = "#12345678", label = "x")
chart.hline(1.5)
chart.hbar(1, 2, 0.5)
chart.divline(1, 2.0, 3, 4.0)
chart.divline(0, 1.5, c & (ohlcv.bar_index < 300), a)
chart.line(a, color = ta.where(c, "red", "blue"))
x = color.gradient(a, 0, 100, "red", "green")
x = color.gradient(l, 0, 100, "red", "green")
x = color.alpha(ta.where(c, "red", "blue"), 0.5)
x = ta.where(c, "red", "blue")
x = ta.where(c, ta.where(all, "red", "green"), "blue")
x = ohlcv.bar_index
chart.set_y_range(1, 2)
chart.set_label("x")
chart.set_label(words)
x = chart.new_label(5, 1.5, "x")
x = chart.new_label(5, 1.5, words)
x = chart.new_label(5, 1.5, words, tooltip = words)
x = chart.new_label(ohlcv.time[5], 1.5, "x", xloc = "bar_time")
x = chart.new_line(5, 1.5, 6, 2.5)
x = chart.new_box(5, 1.5, 6, 2.5)
x = chart.new_box(5, 1.5, 6, 2.5, text = words, bgcolor = "#12345678")
x = chart.new_table("top_right", 2, 2)
x = chart.new_polyline(points)
x = chart.new_polyline(many, curved = True, fill_color = "#12345678")
x = chart.new_polyline(timed, xloc = "bar_time")
x = chart.new_linefill(line, other, "red")
x = chart.new_linefill(line, chart.new_line(5, 1.5, 6, 2.5), "#12345678")
chart.new_line(5, 1.5, 6, 2.5).delete()
"""
CHART_SETUP = (
    "a = ohlcv.close; b = ohlcv.open; c = a > b; all = a > 0; l = list(a); m = list(all); "
    'colors = ["red" if each else None for each in c]; words = "é" * 4000; '
    "texts = [str(j) for j in range(len(ohlcv))]; "
    'label = chart.new_label(1, 1.5, "x"); line = chart.new_line(1, 1.5, 2, 2.5); '
    "box = chart.new_box(1, 2.5, 2, 1.5); other = chart.new_line(1, 2.5, 2, 2.5); "
    "points = [(1, 1.5), (5, 2.5)]; many = [(j % 90, 1.5) for j in range(1000)]; "
    "timed = [(ohlcv.time[j % 90], 1.5) for j in range(100)]; "
    'polyline = chart.new_polyline(points); linefill = chart.new_linefill(line, other, "red"); '
    'table = chart.new_table("top_left", 40, 50); table.cell(0, 0, "x")'
)
FULL_TABLE = CHART_SETUP + "; y = [table.cell(j % 40, j // 40, 'x') for j in range(2000)]"
TABLE = """
table.cell(1, 1, "x")
table.cell(1, 1, words, tooltip = words)
table.cell_set_text(0, 0, "x")
table.cell_set_bgcolor(0, 0, "#12345678")
table.clear(0, 0); table.cell(0, 0, "x")
table.merge_cells(0, 0, 1, 1)
table.set_position("top_right")
table.set_bgcolor("red")
"""
VALUES = {"x": "5", "y": "1.5", "text": '"x"', "xloc": '"bar_index"'}

SOURCES = {
    "source": "a", "a": "a", "b": "b", "close": "a", "open": "b", "high": "ohlcv.high",
    "low": "ohlcv.low", "volume": "ohlcv.volume", "condition": "c", "x": "a",
    "time": "ohlcv.time", "close_time": "ohlcv.close_time", "reset": "d",
    "first": "ohlcv.bar_index * 0", "last": "ohlcv.bar_index",
    "side": "ta.sign(a - b)", "top": "ohlcv.high * 0.9", "bottom": "ohlcv.low * 0.8",
    "weight": "ohlcv.volume",
}  # fmt: skip
SCALARS = {
    "n": "14", "di_n": "14", "adx_n": "14", "factor": "3.0", "fast": "12", "slow": "26",
    "signal": "9", "inc": "0.02", "max": "0.2", "start": "0.02", "left": "4", "right": "4",
    "long": "25", "short": "13", "mult": "2.0", "offset": "0.85", "sigma": "6.0",
    "percentage": "50.0", "spec": '"0930-1600"', "timeframe": '"1D"', "replacement": "1.0",
    "type": '"Traditional"', "anchor": "c", "max_age": "500", "rows": "24",
}  # fmt: skip
LONG = {**SCALARS, **dict.fromkeys(("n", "left", "right", "di_n", "adx_n"), "len(ohlcv) // 2")}
ZONED = {**SCALARS, "tz": '"America/New_York"'}
CONDITIONS = ("logical_and", "logical_or", "logical_not", "barssince", "first_true", "runs")
ONE = ("x",)


def calls(scalars: dict[str, str]) -> Iterator[str]:
    """A call of every ta function."""
    for name in ta.names():
        given = []
        for each in ta.signature(name).parameters.values():
            if each.kind is Parameter.VAR_POSITIONAL:
                continue
            if each.default is not Parameter.empty and each.name not in (
                "n",
                "max_age",
                "mult",
                "tz",
            ):
                continue
            if each.name == "tz" and "tz" not in scalars:
                continue
            value = SOURCES.get(each.name) or scalars.get(each.name, "1.0")
            if name == "rci" and each.name == "n":
                value = f"min({value}, 2500)"  # half of 100,000 bars would take a minute
            if name in CONDITIONS and each.name in ("a", "b", "condition"):
                value = "c"
            if name.endswith("_scalar") and each.name == "x":
                value = "1.5"
            given.append(f"{each.name} = {value}" if given else value)
        yield f"x = ta.{name}({', '.join(given)})"


def setters() -> Iterator[str]:
    """A call of every set_… and get_… of a drawn object."""
    kinds = {
        "label": handles.LabelHandle,
        "line": handles.LineHandle,
        "box": handles.BoxHandle,
        "polyline": handles.PolylineHandle,
        "linefill": handles.LinefillHandle,
    }
    values = {
        "style": '"solid"', "width": "2", "size": '"small"', "extend": '"both"', "yloc": '"price"',
        "textalign": '"left"', "text": "words", "tooltip": "words", "border_width": "2",
        "border_style": '"dashed"', "text_size": '"small"', "text_halign": '"left"',
        "text_valign": '"top"', "text_wrap": '"auto"', "text_font_family": '"monospace"',
        "force_overlay": "True", "text_formatting": '"bold"', "xloc": None, "points": "many",
        "curved": "True", "closed": "True", "line_style": '"dashed"', "provisional": "True",
    }  # fmt: skip
    for name, kind in kinds.items():
        for method in sorted(kind.methods):
            what = method.removeprefix("set_")
            if method == "get_price":
                yield f"x = {name}.get_price(5)"
            elif method.startswith("get_") or method == "copy":
                yield f"x = {name}.{method}()"
            elif method == "set_xloc":
                places = ", ".join(["5"] * len(kind.kind.places))
                yield f'{name}.set_xloc({places}, "bar_index")'
            elif method.startswith("set_"):
                value = values.get(what) or ('"#12345678"' if "color" in what else "5")
                if kind is handles.LabelHandle and what == "style":
                    value = '"label_up"'
                two = what in ("xy", "xy1", "xy2", "lefttop", "rightbottom")
                yield f"{name}.{method}({'5, 1.5' if two else value})"
            elif method == "delete":
                yield f"{name}.delete()"


def cases() -> Iterator[Case]:
    for line in STATEMENTS.strip().split("\n"):
        yield Case(line)
    for line in SIZED.strip().split("\n"):
        setup, statement = (part.strip() for part in line.split(" | ", 1))
        for size in SIZES:
            yield Case(statement.replace("{n}", str(size)), setup.replace("{n}", str(size)))
    for bars in BARS:
        for line in SERIES.strip().split("\n"):
            yield Case(line, SERIES_SETUP, bars)
        tried = (line for scalars in (SCALARS, LONG, ZONED) for line in calls(scalars))
        for line in dict.fromkeys(tried):
            yield Case(line, SERIES_SETUP, bars)
        for line in CHART.strip().split("\n"):
            yield Case(line, CHART_SETUP, bars)
    for line in (*TABLE.strip().split("\n"), *setters()):
        yield Case(line, CHART_SETUP)
    for line in TABLE.strip().split("\n"):
        yield Case(line, FULL_TABLE)


def needed(case: Case) -> list[str]:
    """The lines of the setup that the statement uses; the others would only add noise."""
    lines: list[str] = []
    text = case.statement
    for line in reversed([line.strip() for line in case.setup.split("; ") if line.strip()]):
        name = line.split()[0].split(".")[0]
        if name == "y" or re.search(rf"\b{name}\b", text):  # y: for what its line does
            lines.insert(0, line)
            text += f"; {line}"
    return lines


def program(case: Case) -> Program:
    body = "".join(f"    {line}\n" for line in needed(case))
    loop = f'    for i in range(params["turns"]):\n        {case.statement}\n'
    return script.load(f"{HEAD}def compute(ohlcv, params, chart):\n{body}{loop}")


class Pace:
    """How fast the machine is now: the seconds of a loop in plain Python."""

    def __init__(self) -> None:
        self.least = float("inf")

    def measure(self) -> float:
        began = time.process_time()
        total = 0
        for number in range(60_000):
            total = total + number
        spent = time.process_time() - began
        self.least = min(self.least, spent)
        return spent


def paces_a_step(case: Case, bars: Bars, rounds: int, pace: Pace) -> float:
    """What one step of the statement takes, as a part of the pace."""
    made = program(case)

    def run(turns: int) -> tuple[int, float]:
        before = pace.measure()
        began = time.process_time()
        try:
            steps = script.execute(made, bars, {"turns": turns}, budget=10**12).steps
        except script.ScriptError as error:
            if error.kind != "size":
                raise
            steps = 0
        spent = time.process_time() - began
        return steps, 2 * spent / (before + pace.measure())

    plots = case.statement.startswith("chart.") and "chart.set_" not in case.statement
    most = 400 if plots else 1_000_000
    prepared = run(0)[0]
    one = max(run(1)[0] - prepared, 1)
    turns = max(1, min(STEPS // one, most))
    steps = run(turns)[0] - prepared
    if steps <= 0:
        return float("nan")
    spent = [run(turns)[1] - run(0)[1] for _ in range(rounds)]
    return median(spent) / steps


def untested() -> list[str]:
    """Builtins, methods and functions of the host that no case calls."""
    text = "\n".join(f"{case.setup}\n{case.statement}" for case in cases())
    known = [f"{name}(" for name in builtins.NAMES if name not in ("fail",)]
    known += [f".{name}(" for held in methods.NAMES.values() for name in held]
    known += [f"ta.{name}(" for name in ta.names()]
    known += [f"chart.{name}(" for name in (*chart.PLOT_METHODS, *chart.OBJECT_METHODS)]
    return [name for name in known if name not in text]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--all", action="store_true", help="every operation, not the outliers alone"
    )
    parser.add_argument("--only", default="", help="those whose text has the word")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    given = parser.parse_args()
    if missing := untested():
        raise SystemExit(f"no case calls {', '.join(missing)}")
    gc.disable()  # as in the sandbox
    bars = {count: sandbox.walk(count) for count in BARS}
    pace = Pace()
    found = [
        (paces_a_step(case, bars[case.bars], given.rounds, pace), case)
        for case in cases()
        if given.only in case.name
    ]
    # What met a cap cannot be told.
    found = [(1e9 * pace.least * share, case) for share, case in found if not isnan(share)]
    found.sort(key=lambda each: -each[0])
    outliers = [each for each in found if each[0] > PROMISE_NS]
    shown = found if given.all else outliers[:MOST_SHOWN]
    lines = ["| ns a step | operation |", "|---:|---|"]
    lines += [f"| {ns:.0f} | `{case.name}` |".replace("\\|", "|") for ns, case in shown]
    middle = median(ns for ns, _ in found)
    told = (
        f"{len(found)} operations, half of them below {middle:.0f} ns a step and {len(outliers)} "
        f"above {PROMISE_NS}; the dearest:"
    )
    table = "\n".join([told, "", *lines])
    print(table)
    if given.write:
        put("steps", f"{machine({'chartpact': version('chartpact')})}\n\n{table}")


if __name__ == "__main__":
    main()
