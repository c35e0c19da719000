"""Small functions that an imported script may need, written into it above `compute`.

Each says in a line what rule of Pine's it keeps. `needs` are the helpers that it calls itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Helper:
    text: str
    needs: tuple[str, ...] = ()


def _helper(text: str, *needs: str) -> Helper:
    return Helper(text.strip("\n"), needs)


HELPERS: Mapping[str, Helper] = {
    "level": _helper('''
# The same value on every bar.
def level(ohlcv, value):
    return ta.shift([value] * len(ohlcv), 0)
'''),
    "on_bars": _helper('''
# Pine calculates on those bars alone where the condition holds, with a history of their own.
def on_bars(condition, function, sources):
    bars = [bar for bar in range(len(condition)) if condition[bar]]
    result = [na] * len(condition)
    if bars:
        values = function([[source[bar] for bar in bars] for source in sources])
        for i in range(len(bars)):
            value = values[i]
            result[bars[i]] = na if value == None else value
    return ta.shift(result, 0)
'''),
    "div": _helper('''
# What is divided by 0 is na.
def div(a, b):
    return a / b if b != 0 else na
'''),
    "differs": _helper('''
# na differs from nothing.
def differs(a, b):
    return a < b or a > b
'''),
    "truth": _helper('''
# A number is a condition: 0 and na are false.
def truth(x):
    return x != 0 and x == x
'''),
    "whole": _helper('''
# The whole part of a number; of na it is na.
def whole(x):
    return int(x) if x == x and x != None else na
'''),
    "past": _helper('''
# The value some bars ago, na before the first.
def past(values, bar):
    return values[bar] if bar >= 0 and bar < len(values) else na
'''),
    "past_of": _helper('''
# The value or the object some bars ago, None before the first.
def past_of(values, bar):
    return values[bar] if bar >= 0 and bar < len(values) else None
'''),
    "delete": _helper('''
# What is not there cannot be deleted.
def delete(drawn):
    if drawn != None:
        drawn.delete()
'''),
    "turns": _helper('''
# Pine's for counts down where it ends below its start, and includes the end.
def turns(start, stop, by):
    if not (start <= stop or start > stop):
        return []
    if by < 0:
        by = -by
    start, stop = int(start), int(math.floor(stop)) if start <= stop else int(math.ceil(stop))
    return range(start, stop + 1, by) if start <= stop else range(start, stop - 1, -by)
'''),
    "turns_by": _helper('''
# The same with a step that is no whole number.
def turns_by(start, stop, by):
    count = int(math.floor(abs(stop - start) / abs(by) + 1e-9)) if by != 0 and abs(stop - start) >= 0 else -1
    way = abs(by) if start <= stop else -abs(by)
    return [start + way * i for i in range(count + 1)]
'''),
    "displaced": _helper('''
# Colours that are drawn some bars to the right, or to the left.
def displaced(colors, offset):
    return [colors[i - offset] if i >= offset and i - offset < len(colors) else None for i in range(len(colors))]
'''),
    "moment": _helper('''
# A time by the clock of a zone, in UTC milliseconds.
def moment(year, month, day, hour, minute, second, tz):
    found = 0
    for turn in range(3):
        days = 0
        y, m = year + (month - 1) // 12, (month - 1) % 12 + 1
        a = (14 - m) // 12
        yy, mm = y + 4800 - a, m + 12 * a - 3
        days = day + (153 * mm + 2) // 5 + 365 * yy + yy // 4 - yy // 100 + yy // 400 - 32045 - 2440588
        found = ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000
        shift = (ta.hour(found, tz) * 60 + ta.minute(found, tz)) - (found // 60000) % 1440
        shift = shift - 1440 if shift > 720 else shift + 1440 if shift < -720 else shift
        found = found - shift * 60000
    return found
'''),
    "period": _helper('''
# A timeframe as Pine writes it: "5", "60", "D".
def period(timeframe):
    unit = timeframe[-1:]
    if unit == "m" or unit == "h":
        return str(int(timeframe[:-1]) * (60 if unit == "h" else 1))
    return timeframe.removeprefix("1").upper()
'''),
    "rgb": _helper('''
# A colour of its parts, 0 to 255, and its transparency, 0 to 100.
def rgb(red, green, blue, transp):
    found = "#"
    for part in [red, green, blue, (100 - transp) * 2.55]:
        whole = min(255, max(0, math.round(part))) if part == part else 0
        found += "0123456789abcdef"[whole // 16] + "0123456789abcdef"[whole % 16]
    return found
'''),
    "part_of": _helper('''
# Red, green or blue of a colour, or its transparency.
def part_of(shade, part):
    text = color.alpha(shade, 1)
    if part == 3:
        text = color.mix(shade, shade, 0)
        return 100 - int(text[7:9], 16) / 2.55
    return int(text[1 + 2 * part:3 + 2 * part], 16)
'''),
    "zone_of": _helper('''
# A zone such as "GMT+2" by its name in the database of zones.
def zone_of(zone):
    if (zone.startswith("GMT") or zone.startswith("UTC")) and len(zone) > 4:
        hours = zone[4:].partition(":")[0].lstrip("0")
        return ("Etc/GMT" + ("-" if zone[3] == "+" else "+") + hours) if hours else "UTC"
    return "UTC" if zone == "GMT" else zone
'''),
    "multiplier": _helper('''
# The number in a timeframe: 15 of "15m", 240 of "4h".
def multiplier(timeframe):
    count = int(timeframe[:-1]) if timeframe[:-1] else 1
    return count * 60 if timeframe.endswith("h") else count
'''),
    "text_of": _helper('''
# A number as Pine writes it.
def text_of(x):
    return text.number(math.round(x, 10)) if x == x and x != None else "NaN"
'''),
    "formatted": _helper('''
# A number by a pattern such as "#.##": # are decimals if there are any, 0 in any case.
def formatted(x, pattern):
    if x != x or x == None:
        return "NaN"
    percent = pattern.endswith("%")
    form = pattern[:-1] if percent else pattern
    decimals = form.partition(".")[2]
    least = decimals.count("0")
    found = text.number(x, len(decimals))
    if "." in found:
        whole, _, tail = found.partition(".")
        for turn in range(len(tail) - least):
            if tail.endswith("0"):
                tail = tail[:-1]
        found = whole + "." + tail if tail else whole
    if "," in form and len(found.partition(".")[0]) > 3:
        whole, dot, tail = found.partition(".")
        sign = "-" if whole.startswith("-") else ""
        digits = whole.removeprefix("-")
        parts = []
        for turn in range(len(digits)):
            if len(digits) > 3:
                parts.insert(0, digits[-3:])
                digits = digits[:-3]
        found = sign + ",".join([digits] + parts) + dot + tail
    return found + "%" if percent else found
'''),
    "by_tick": _helper('''
# A price with the decimals of its tick.
def by_tick(x, tick):
    if x != x or x == None:
        return "NaN"
    decimals = 0
    for turn in range(10):
        if abs(tick - math.round(tick, decimals)) > 1e-12:
            decimals += 1
    return text.number(math.round(x / tick) * tick, decimals)
'''),
    "volume_text": _helper('''
# A volume in thousands, millions or billions.
def volume_text(x):
    if x != x or x == None:
        return "NaN"
    for size, letter in [(1e9, "B"), (1e6, "M"), (1e3, "K")]:
        if abs(x) >= size:
            return formatted(x / size, "#.###") + letter
    return formatted(x, "#.###")
''', "formatted"),
    "message": _helper('''
# Values put into a text where it says {0}, {1,number,#.##}.
def message(pattern, values):
    parts = pattern.split("{")
    found = parts[0]
    for part in parts[1:]:
        inside, _, rest = part.partition("}")
        fields = inside.split(",")
        value = values[int(fields[0])]
        if type(value) == "string":
            found += value
        elif type(value) == "bool":
            found += "true" if value else "false"
        elif len(fields) > 2:
            found += formatted(value, {"integer": "#", "percent": "#%", "currency": "#,##0.00"}.get(fields[2].strip(), fields[2].strip()))
        else:
            found += formatted(value, "#,##0.###")
        found += rest
    return found
''', "formatted"),
    "position": _helper('''
def position(source, part):
    at = source.find(part)
    return at if at >= 0 else na
'''),
    "index_of": _helper('''
def index_of(values, value):
    for i in range(len(values)):
        if values[i] == value:
            return i
    return -1
'''),
    "last_index_of": _helper('''
def last_index_of(values, value):
    for i in range(len(values)):
        if values[len(values) - 1 - i] == value:
            return len(values) - 1 - i
    return -1
'''),
    "nth_largest": _helper('''
def nth_largest(values, nth):
    found = sorted([x for x in values if x == x and x != None], reverse=True)
    return found[nth] if nth < len(found) else na
'''),
    "nth_smallest": _helper('''
def nth_smallest(values, nth):
    found = sorted([x for x in values if x == x and x != None])
    return found[nth] if nth < len(found) else na
'''),
    "variance_of": _helper('''
def variance_of(values, biased):
    found = [x for x in values if x == x and x != None]
    count = len(found) if biased else len(found) - 1
    if count < 1:
        return na
    mean = math.avg(found)
    return math.sum([(x - mean) * (x - mean) for x in found]) / count
'''),
    "deviation": _helper('''
def deviation(values, biased):
    return math.sqrt(variance_of(values, biased))
''', "variance_of"),
    "sort": _helper('''
def sort(values, order):
    found = sorted(values, reverse=order == "descending")
    for i in range(len(found)):
        values[i] = found[i]
'''),
    "reverse": _helper('''
def reverse(values):
    found = values[::-1]
    for i in range(len(found)):
        values[i] = found[i]
'''),
    "fill": _helper('''
def fill(values, value, start, stop):
    for i in range(start, len(values) if stop == None else stop):
        values[i] = value
'''),
    "concat": _helper('''
def concat(values, others):
    values.extend(others)
    return values
'''),
    "sma_at": _helper('''
# Pine's ta.sma of a value that the loop calculates.
def sma_at(window, x, n):
    window.append(x)
    return math.avg(window[-n:]) if len(window) >= n and not any([v != v for v in window[-n:]]) else na
'''),
    "sum_at": _helper('''
def sum_at(window, x, n):
    window.append(x)
    return math.sum(window[-n:]) if len(window) >= n and not any([v != v for v in window[-n:]]) else na
'''),
    "average_at": _helper('''
# An average that remembers itself: it begins with the mean of the first n values.
def average_at(state, x, n, weight):
    if x != x:
        return na
    if len(state) < n:
        state.append(x)
        if len(state) < n:
            return na
        state.append(math.avg(state))
        return state[n]
    state[n] = weight * x + (1 - weight) * state[n]
    return state[n]
'''),
    "ema_at": _helper('''
def ema_at(state, x, n):
    return average_at(state, x, n, 2 / (n + 1))
''', "average_at"),
    "rma_at": _helper('''
def rma_at(state, x, n):
    return average_at(state, x, n, 1 / n)
''', "average_at"),
    "highest_at": _helper('''
def highest_at(window, x, n):
    window.append(x)
    values = [v for v in window[-n:] if v == v]
    return max(values) if len(window) >= n and values else na
'''),
    "lowest_at": _helper('''
def lowest_at(window, x, n):
    window.append(x)
    values = [v for v in window[-n:] if v == v]
    return min(values) if len(window) >= n and values else na
'''),
    "cum_at": _helper('''
def cum_at(state, x):
    if not state:
        state.append(0)
    state[0] += 0 if x != x else x
    return state[0]
'''),
    "crossover_at": _helper('''
def crossover_at(state, a, b):
    before = state[-1] if state else (na, na)
    state.append((a, b))
    return a > b and before[0] <= before[1]
'''),
    "crossunder_at": _helper('''
def crossunder_at(state, a, b):
    before = state[-1] if state else (na, na)
    state.append((a, b))
    return a < b and before[0] >= before[1]
'''),
    "cross_at": _helper('''
def cross_at(state, a, b):
    before = state[-1] if state else (na, na)
    state.append((a, b))
    return (a > b and before[0] <= before[1]) or (a < b and before[0] >= before[1])
'''),
    "barssince_at": _helper('''
def barssince_at(state, condition):
    if condition:
        state.clear()
        state.append(0)
    elif state:
        state[0] += 1
    return state[0] if state else na
'''),
    "valuewhen_at": _helper('''
def valuewhen_at(values, condition, x, n):
    if condition:
        values.append(x)
    return values[-1 - n] if len(values) > n else na
'''),
    "fixnan_at": _helper('''
def fixnan_at(state, x):
    if x == x and x != None:
        state.clear()
        state.append(x)
    return state[0] if state else na
'''),
    "change_at": _helper('''
def change_at(values, x, n):
    values.append(x)
    return x - values[-1 - n] if len(values) > n else na
'''),
    "stdev_at": _helper('''
def stdev_at(window, x, n):
    window.append(x)
    return deviation(window[-n:], True) if len(window) >= n and not any([v != v for v in window[-n:]]) else na
''', "deviation"),
    "wma_at": _helper('''
def wma_at(window, x, n):
    window.append(x)
    if len(window) < n:
        return na
    return math.sum([window[len(window) - n + i] * (i + 1) for i in range(n)]) / (n * (n + 1) / 2) if not any([v != v for v in window[-n:]]) else na
'''),
}  # fmt: skip

# Functions with a form for one bar that keeps a state: helper, and which of their arguments it takes.
BY_BAR: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ta.sma": ("sma_at", ("source", "length")),
    "math.sum": ("sum_at", ("source", "length")),
    "ta.ema": ("ema_at", ("source", "length")),
    "ta.rma": ("rma_at", ("source", "length")),
    "ta.wma": ("wma_at", ("source", "length")),
    "ta.stdev": ("stdev_at", ("source", "length")),
    "ta.highest": ("highest_at", ("source", "length")),
    "ta.lowest": ("lowest_at", ("source", "length")),
    "ta.cum": ("cum_at", ("source",)),
    "ta.crossover": ("crossover_at", ("source1", "source2")),
    "ta.crossunder": ("crossunder_at", ("source1", "source2")),
    "ta.cross": ("cross_at", ("source1", "source2")),
    "ta.barssince": ("barssince_at", ("condition",)),
    "ta.valuewhen": ("valuewhen_at", ("condition", "source", "occurrence")),
    "fixnan": ("fixnan_at", ("source",)),
    "ta.change": ("change_at", ("source", "length")),
    "ta.mom": ("change_at", ("source", "length")),
}
