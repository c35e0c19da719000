"""The language reference by topic, for readers who want one part of it at a time.

The pages are those of the documentation. Topics are their headings: `series`, `ta.ema`,
`chart.line`; `ta` and `chart` list what they have.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from chartpact import documentation
from chartpact.prices import DERIVED, STORED
from chartpact.problem import Failure, Problem, nearest
from chartpact.script.host.maths import CONSTANTS
from chartpact.script.host.ohlcv import Ohlcv

PAGES = {
    "language": "language.md",
    "chart": "reference/chart.md",
    "ta": "reference/ta.md",
    "pine": "reference/pine.md",
}
MOST_ROWS, MOST_PARTS = 8, 2  # that mention a name which is no topic
MOST_ALIKE = 5  # topics that one word stands for, or that an unknown one may have meant
_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_HEADING = re.compile(r"^(#{1,3}) (.+)$")
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]*\)")


@dataclass(frozen=True)
class ManualSection:
    """A heading with what stands below it, its subsections included."""

    topic: str
    page: str
    level: int
    text: str

    @property
    def signature(self) -> str:
        """How a function is called: its first text in backquotes that has parentheses."""
        called = re.search(r"`([\w.]+\(.*?\))`", self.text)
        return called[1] if called else self.topic


def page(name: str) -> str:
    """A whole page as Markdown, without links and what only a shell or NumPy can do."""
    text = (documentation.folder() / PAGES[name]).read_text("utf-8")
    text = _COMMENT.sub("", text).partition("\n## From a shell\n")[0].rstrip() + "\n"
    return _LINK.sub(r"\1", text).replace(", out=None", "")


def read(topic: str | None = None) -> str:
    """The part of the reference about a topic, or how a script looks and which topics there are.

    >>> read("ema").splitlines()[0]
    '### `ema`'
    """
    wanted = (topic or "").strip(" `").removesuffix("()").lower()
    if not wanted:
        first, second = (_find(name)[0].text for name in ("a script", "series"))
        return f"{first}\n{second}\n{overview()}"
    if wanted in ("ta", "chart"):
        return _index(wanted)
    if wanted in PAGES:
        return page(wanted)
    sections = _find(wanted)
    if not sections and (mentioned := _mentions(wanted)):
        return mentioned
    if not sections:
        near = ", ".join(nearest(wanted, [section.topic for section in _sections()], MOST_ALIKE))
        problem = Problem("name", f"the reference has no topic {topic!r:.80}", overview())
        raise Failure(problem.at(hint=f"near: {near}. {overview()}") if near else problem)
    return "\n".join(section.text for section in sections[:MOST_ALIKE])


def _mentions(wanted: str) -> str:
    """The rows of tables that are about a name, such as Pine's, else the parts that call it."""
    name = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)", re.IGNORECASE)

    def calls(text: str) -> bool:
        return any(name.search(code[2]) for code in _SPAN.finditer(text))

    rows = [
        line
        for page_name in PAGES
        for line in page(page_name).splitlines()
        if line.startswith("|") and calls(line)
    ]
    if rows:
        return "\n".join(rows[:MOST_ROWS]) + "\n"
    if not re.search(r"\w", wanted):  # a lone sign, which any code may have
        return ""
    parts = [section.text for section in _sections() if section.level > 1 and calls(section.text)]
    return "\n".join(parts[:MOST_PARTS])


def overview() -> str:
    """The topics in one paragraph; those of single functions are in the lists of ta and chart."""
    plain = [s for s in _sections() if "." not in s.topic and s.level > 1]
    language, chart, ta = (
        ", ".join(section.topic for section in plain if section.page == name)
        for name in ("language", "chart", "ta")
    )
    return (
        f"Topics: {language}; chart (what can be drawn, a line each), {chart}, or one such as "
        f"chart.line; ta (every function, a line each), {ta}, or one such as ta.ema; "
        "pine (what Pine's names are called here)."
    )


def _index(name: str) -> str:
    """The functions of a page by section, each in a line as it is called."""
    lines = []
    for section in (section for section in _sections() if section.page == name):
        if section.level == 2:
            lines.append(f"{section.topic}:")
        elif "." in section.topic:
            lines.append(f"  {section.signature}")
    return "\n".join([*lines, f"Ask for the topic {name}.NAME to read about one of them."])


def _find(wanted: str) -> list[ManualSection]:
    """The section of that topic, or those whose topics hold it as a word."""
    sections = _sections()
    exact = [section for section in sections if section.topic == wanted]
    if exact:
        return exact
    word = re.compile(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])")
    return [section for section in sections if word.search(section.topic)]


@cache
def _sections() -> tuple[ManualSection, ...]:
    return tuple(section for name in PAGES for section in _split(name))


def _split(name: str) -> Iterator[ManualSection]:
    """Every section of a page; a heading inside a code block is none."""
    lines = page(name).splitlines()
    starts: list[tuple[int, int, str]] = []
    in_code = False
    for number, line in enumerate(lines):
        in_code ^= line.startswith("```")
        heading = None if in_code else _HEADING.match(line)
        if heading:
            starts.append((number, len(heading[1]), heading[2]))
    for at, (number, level, title) in enumerate(starts):
        following = (n for n, deeper, _ in starts[at + 1 :] if deeper <= level)
        body = lines[number : next(following, len(lines))]
        yield ManualSection(_topic(name, level, title), name, level, "\n".join(body).strip() + "\n")


def _topic(page: str, level: int, title: str) -> str:
    """What one asks for: `chart.line(s, …)` is chart.line, and ema of the page ta is ta.ema."""
    called = title.strip("`").partition("(")[0].lower()
    return f"ta.{called}" if page == "ta" and level == 3 else called


@dataclass(frozen=True)
class Entry:
    """A name that scripts use: how it is called, what it is, and an example where there is one."""

    name: str
    signature: str
    doc: str
    example: str = ""


_CODE = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"^\| `((?:math)\.\w+)(\(.*?\))?` \| (.*?) \|$", re.MULTILINE)


@cache
def entries() -> tuple[Entry, ...]:
    """Every name of the language that an editor completes and explains, by namespace."""
    called = [_entry(section) for section in _sections() if "." in section.topic]
    [sums] = [section for section in _sections() if section.topic == "math"]
    rows = [Entry(name, name + rest, doc) for name, rest, doc in _ROW.findall(sums.text)]
    constants = [Entry(f"math.{name}", f"math.{name}", "A constant.") for name in CONSTANTS]
    return (*called, *rows, *constants, *_prices())


def _entry(section: ManualSection) -> Entry:
    heading, _, body = section.text.partition("\n")
    signature = section.signature
    if section.page == "ta":
        signature = f"ta.{signature.removeprefix('ta.')}"
        body = body.partition(f"`{section.signature}`")[2] or body
    example = _CODE.search(body)
    doc = _CODE.sub("", body).strip()
    name = section.topic if section.page == "ta" else heading.strip("# `").partition("(")[0]
    return Entry(name, signature, doc, example[1].strip() if example else "")


def _prices() -> Iterator[Entry]:
    for name in sorted(Ohlcv.fields):
        yield Entry(f"ohlcv.{name}", f"ohlcv.{name}", _PRICES[name])
    for name, (arguments, doc, example) in _METHODS.items():
        yield Entry(f"ohlcv.{name}", f"ohlcv.{name}({arguments})", doc, example)


_METHODS = {
    "resample": (
        "timeframe, partial=False",
        "A shorter ohlcv of the whole bars of a higher timeframe.",
        'daily = ohlcv.resample("1D")',
    ),
    "price_text": (
        "x",
        "A price as a text, rounded to the tick and with its decimals.",
        "chart.new_label(i, price, ohlcv.price_text(price))",
    ),
    "series": (
        "value",
        "A series of one value on every bar, or of a list with one value a bar.",
        "chart.line(ohlcv.series(50))",
    ),
    "security": (
        "timeframe, calculate=None",
        "The bars of a higher timeframe on the chart's bars: each sees the last complete one.",
        'ohlcv.security("1D", lambda d: ta.ema(d.close, 20))',
    ),
}
_PRICES = {name: f"The {name} of each bar." for name in (*STORED, *DERIVED)} | {
    "time": "When each bar opened, in UTC milliseconds.",
    "bar_index": "The number of each bar, from 0.",
    "symbol": "The symbol of the chart.",
    "timeframe": "The timeframe of the chart, such as 5m.",
    "tick_size": "The smallest step of prices; None where it is not known.",
    "first_visible": "The number of the first bar in view; 0 where there is no view.",
    "close_time": "When each bar is over, in UTC milliseconds.",
    "trading_day": "The date of each bar's trading day, in days since 1970.",
    "day_roll": "When a trading day begins.",
    "market": "Which days are trading days: 24x7, fx or listed.",
    "first_bar": "Of higher bars: the number of each one's first bar.",
    "whole": "Of higher bars: whether each one is complete.",
}
