"""From text to syntax tree: what Starlark would not read never reaches Python's parser."""

import ast
import re

from chartpact.problem import Failure
from chartpact.script.check import pine
from chartpact.script.errors import ScriptError
from chartpact.script.limits import BRACKETS, DEPTH, PARTS, Limits
from chartpact.syntax import Token, guarded_parse

PREFIXES = ("", "r", "f")

# Invisible characters: controls, and those that change the reading direction.
_INVISIBLE = re.compile("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufeff]")
_INVISIBLE_NAMES = {
    "\t": "a tab",
    "\f": "a form feed",
    "\r": "a carriage return",
    "\ufeff": "a BOM",
}
_INVISIBLE_HINTS = {"\t": "indent with spaces", "\ufeff": "save the file as UTF-8 without a BOM"}
_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*|_)\}|[{}]")
_ESCAPED_BRACE = re.compile(r"\\(?:x7[bdBD]|u007[bdBD]|U0000007[bdBD]|17[35])")

_RESERVED = {  # words of Python, and what to write instead
    "as": "",
    "assert": 'stop with fail("why")',
    "async": "",
    "await": "",
    "class": "keep values in a dict",
    "del": "",
    "except": "",
    "finally": "",
    "from": "scripts import nothing: ta, math, color, text and payload are there already",
    "global": "return the value instead",
    "import": "scripts import nothing: ta, math, color, text and payload are there already",
    "is": "write x == None",
    "load": "scripts load nothing: ta, math, color, text and payload are there already",
    "nonlocal": "return the value instead",
    "raise": 'stop with fail("why")',
    "try": "test before you act, for example with x == None or key in d",
    "while": "write for i in range(n), and break when done",
    "with": "",
    "yield": "collect the values in a list",
}
_KEYWORDS = frozenset(
    "and break continue def elif else for if in lambda not or pass return None True False".split()
)


def parse(source: str, limits: Limits) -> ast.Module:
    """The syntax tree of a source that Starlark can read."""
    check_size(source, limits.source_bytes)
    if match := _INVISIBLE.search(source):
        raise _invisible(source, match.start())
    try:
        return guarded_parse(
            source,
            ast.Module,
            max_chars=limits.source_bytes,
            max_nesting=BRACKETS,
            max_depth=DEPTH,
            max_parts=PARTS,
            prefixes=PREFIXES,
            watch=_check_token,
        )
    except ScriptError:  # of a word, which tells its own step
        raise
    except Failure as error:
        hint = pine.hint_for_statement(source.split("\n")[: error.line or 0]) or error.hint
        raise ScriptError(
            "parse", error.kind, error.message, hint, line=error.line, column=error.column
        ) from None


def normalize(source: str) -> str:
    """The source with the line ends of Unix."""
    return source.replace("\r\n", "\n")


def check_size(source: str, most: int) -> None:
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise ScriptError("parse", "syntax", "the script holds half of a surrogate pair") from None
    if size > most:
        message = f"the script has {size:,} bytes, and {most:,} are allowed"
        raise ScriptError("parse", "size", message)


def _invisible(source: str, at: int) -> ScriptError:
    char = source[at]
    name = _INVISIBLE_NAMES.get(char, f"the invisible character U+{ord(char):04X}")
    hint = _INVISIBLE_HINTS.get(char, "remove it; in a text, write an escape")
    line, column = source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)
    return ScriptError("parse", "syntax", f"{name} stands here", hint, line=line, column=column)


def _check_token(token: Token) -> None:
    step, kind, message, hint = "check", "forbidden", "", ""
    if token.kind == "name" and token.text in _RESERVED:
        message, hint = f"{token.text!r} is not part of the language", _RESERVED[token.text]
    elif token.kind == "name" and token.text[0] == "_" and token.text != "_":
        message = f"{token.text!r:.60} begins with an underscore"
        hint = "such names are the host's: choose another"
    elif token.kind == "string" and token.text[0] == "f" and not _has_bare_fields(token.text):
        step, kind = "parse", "syntax"
        message = 'an f-string takes names alone, such as f"{price}"'
        hint = "name the value first; text.number(x, decimals) writes digits"
    if message:
        raise ScriptError(step, kind, message, hint, line=token.line, column=token.column)


def _has_bare_fields(literal: str) -> bool:
    """Whether every field of an f-string is a name in braces."""
    quotes = 3 if literal[1:4] in ('"""', "'''") else 1
    body = literal[1 + quotes : -quotes]
    if _ESCAPED_BRACE.search(body):
        return False
    return not any(match[0] in "{}" or match[1] in _KEYWORDS for match in _FIELD.finditer(body))
