"""Runs test files written in the language itself.

A file is cut into chunks by lines of `---`. Each chunk is a script's top level and the body of
compute at once: what stands at the left margin and is no definition runs as compute's body. An
expected failure is written on the line where it must occur: `x = 1 // 0  ### "division by zero"`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chartpact import script
from chartpact.script.dry_run import dry_run_bars

HEAD = 'PARAMS = []\nMETA = {"title": "chunk"}\n'
_BARS = dry_run_bars()
EXPECT = re.compile(r'###\s*"(.*)"\s*$')


@dataclass(frozen=True)
class Chunk:
    """A piece of a test file, at the line it begins on."""

    file: Path
    line: int
    text: str

    @property
    def id(self) -> str:
        return f"{self.file.stem}:{self.line}"

    @property
    def expected(self) -> dict[int, str]:
        """Line → what the failure there must say."""
        found = {}
        for number, line in enumerate(self.text.split("\n"), self.line):
            if match := EXPECT.search(line):
                found[number] = match[1].replace('\\"', '"')
        return found


def chunks(file: Path) -> Iterator[Chunk]:
    start, lines = 1, []
    for number, line in enumerate([*file.read_text().split("\n"), "---"], 1):
        if line.strip() == "---":
            if any(each.strip() and not each.startswith("#") for each in lines):
                yield Chunk(file, start, "\n".join(lines))
            start, lines = number + 1, []
        else:
            lines.append(line)


PRELUDE = """
def eq(a, b):
    if a != b:
        fail("{} != {}".format(repr(a), repr(b)))
    if type(a) != type(b):
        fail("{} and {} are equal, and of different types".format(repr(a), repr(b)))

def near(a, b):
    if not (a - b < 1e-9 and b - a < 1e-9):
        fail("{} is not near {}".format(a, b))

def true(x):
    if x != True:
        fail("{} is not True".format(repr(x)))
"""


def source_of(chunk: Chunk) -> tuple[str, int]:
    """The chunk as a script, and how many lines come before it."""
    if re.search(r"^(def compute\(|PARAMS = |META = )", chunk.text, re.MULTILINE):
        head = "" if re.search("PARAMS|META", chunk.text) else HEAD
        return head + chunk.text, head.count("\n")
    head = HEAD + PRELUDE + "def compute(ohlcv, params, chart):\n"
    body = "\n".join(f"    {line}" if line.strip() else "" for line in chunk.text.split("\n"))
    return head + body + "\n    return None\n", head.count("\n")


def run(chunk: Chunk) -> None:
    """Fails unless the chunk fails exactly where and how it says, or not at all."""
    source, before = source_of(chunk)
    expected = chunk.expected
    try:
        result = script.execute(script.load(source), _BARS)
    except script.ScriptError as error:
        line = None if error.line is None else error.line - before + chunk.line - 1
        assert line in expected, f"{chunk.id}: line {line}: {error}"
        said = f"{error.kind}: {error.message} ({error.hint})"
        assert re.search(expected[line], said), f"{chunk.id}: line {line}: {said}"
        return
    assert not expected, f"{chunk.id}: nothing failed; steps {result.steps}"
    ast.parse(source)
