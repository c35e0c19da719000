"""From Pine source to tokens.

Pine's layout has one rule that no other language has: a line whose indentation is no multiple of
four continues the line before it. A tab counts as four. Inside brackets every line continues, and
so does one after an operator that wants a right side. A text may run over several lines, which are
joined by one space. Comments are kept with their lines: the script that is written carries them.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from chartpact.pine.errors import PineError

MAX_SOURCE = 256 * 1024  # bytes
MAX_TOKENS = 200_000
MAX_DEPTH = 200  # blocks and brackets in one another


class PineToken(NamedTuple):
    kind: str  # name number text color op newline indent dedent end
    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Tokens:
    tokens: list[PineToken]
    comments: dict[int, str]  # line -> what stands behind // there
    version: int
    lines: int


_TOKEN = re.compile(
    r"""(?P<space>[ \t\u00a0\u200b\ufeff]+)
      | (?P<comment>//[^\n]*)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<color>\#[0-9a-fA-F]{6}(?:[0-9a-fA-F]{2})?)
      | (?P<name>[^\W\d]\w*)
      | (?P<op>=>|:=|==|!=|<=|>=|\+=|-=|\*=|/=|%=|[-+*/%<>=?:,.()\[\]])
      | (?P<quote>["'])
    """,
    re.VERBOSE,
)
_WANTS_MORE = frozenset("+ - * / % ? : , == != < > <= >= := = and or not += -= *= /=".split())
_VERSION = re.compile(r"^\s*//\s*@version\s*=\s*(\d+)", re.MULTILINE)


def tokenize(source: str) -> Tokens:
    """The tokens of a script, with its blocks as indents and dedents."""
    if len(source.encode("utf-8", "replace")) > MAX_SOURCE:
        raise PineError(f"the source is longer than {MAX_SOURCE // 1024} KB", rule="limit")
    source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    return _Lexer(source).run()


class _Lexer:
    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        found = _VERSION.search(source)
        self.version = min(int(found[1][:3]), 6) if found else 1
        self.tokens: list[PineToken] = []
        self.comments: dict[int, str] = {}
        self.depth = 0
        self.indents = [0]

    def run(self) -> Tokens:
        number = 0
        while number < len(self.lines):
            number = self._line(number)
        last = len(self.lines)
        if self.tokens:
            self._emit("newline", "", last, 1)
        for _ in self.indents[1:]:
            self._emit("dedent", "", last, 1)
        self._emit("end", "", last, 1)
        return Tokens(self.tokens, self.comments, self.version, last)

    def _emit(self, kind: str, text: str, line: int, column: int) -> None:
        if len(self.tokens) >= MAX_TOKENS:
            raise PineError(f"the script has more than {MAX_TOKENS} tokens", line, column, "limit")
        self.tokens.append(PineToken(kind, text, line, column))

    def _line(self, number: int) -> int:
        """Reads one line, and those that a text in it runs over; the number of the next."""
        text = self.lines[number]
        stripped = text.lstrip(" \t\u00a0\u200b\ufeff")
        if not stripped or stripped.startswith("//"):
            if stripped:
                self.comments[number + 1] = stripped[2:].rstrip()
            return number + 1
        indent = sum(4 if c == "\t" else 1 for c in text[: len(text) - len(stripped)])
        if not self._continues(indent) and not (self.tokens and stripped[0] in "?:" and indent):
            self._begin(indent, number + 1)
        return self._rest(number, len(text) - len(stripped))

    def _continues(self, indent: int) -> bool:
        if self.depth or not self.tokens:
            return bool(self.depth)
        if indent % 4:
            return True
        last = self.tokens[-1]
        return indent > 0 and last.kind in ("op", "name") and last.text in _WANTS_MORE

    def _begin(self, indent: int, line: int) -> None:
        if self.tokens:
            self._emit("newline", "", line, 1)
        if indent > self.indents[-1]:
            if len(self.indents) > MAX_DEPTH:
                raise PineError("the blocks are too deep", line, 1, "limit")
            self.indents.append(indent)
            self._emit("indent", "", line, 1)
        while indent < self.indents[-1]:
            self.indents.pop()
            self._emit("dedent", "", line, 1)
        # Between two levels Pine reads a line as the outer block's.
        self.indents[-1] = max(self.indents[-1], indent)

    def _rest(self, number: int, at: int) -> int:
        text = self.lines[number]
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                if text[at] in ";\\":
                    at += 1  # left over from other languages; Pine's old editor let it pass
                    continue
                raise PineError(f"{text[at]!r} means nothing in Pine", number + 1, at + 1)
            kind, value = str(match.lastgroup), match.group()
            if kind == "comment":
                self.comments[number + 1] = value[2:].rstrip()
            elif kind == "quote":
                number, at = self._text(number, at)
                text = self.lines[number]
                continue
            elif kind != "space":
                self._bracket(value, number, at)
                self._emit(kind, value, number + 1, at + 1)
            at = match.end()
        return number + 1

    def _bracket(self, value: str, number: int, at: int) -> None:
        if value in "([":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise PineError("the brackets are too deep", number + 1, at + 1, "limit")
        elif value in ")]":
            self.depth = max(0, self.depth - 1)

    def _text(self, number: int, at: int) -> tuple[int, int]:
        """Reads a text from its quote on; the line and the column behind it."""
        line, column = number + 1, at + 1
        quote, parts, at = self.lines[number][at], [], at + 1
        escapes = {"n": "\n", "t": "\t", "r": ""}
        while True:
            text = self.lines[number]
            if at >= len(text):
                number, at = number + 1, 0
                if number >= len(self.lines) or number - line > 200:
                    raise PineError("the text is not closed", line, column)
                at = len(self.lines[number]) - len(self.lines[number].lstrip())
                parts.append(" ")
            elif text[at] == "\\" and at + 1 < len(text):
                parts.append(escapes.get(text[at + 1], text[at + 1]))
                at += 2
            elif text[at] == quote:
                self._emit("text", "".join(parts), line, column)
                return number, at + 1
            else:
                parts.append(text[at])
                at += 1
