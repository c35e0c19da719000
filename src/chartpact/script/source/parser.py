"""From text to syntax tree: what Starlark would not read never reaches Python's parser."""

import ast
import re

from chartpact.script.errors import ScriptError
from chartpact.script.limits import BRACKETS, DEPTH, PARTS, Limits
from chartpact.syntax import SourceError, Token, guarded_parse

PREFIXES = ("", "r", "f")

# Characters that hide in texts and comments: controls, and those that turn the reading direction.
_HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufeff]")
_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*|_)\}|[{}]")
_ESCAPED_BRACE = re.compile(r"\\(?:x7[bdBD]|u007[bdBD]|U0000007[bdBD]|17[35])")

_RESERVED = {
    "as": "",
    "assert": 'stop with fail("why")',
    "async": "",
    "await": "",
    "class": "keep values in a dict",
    "del": "",
    "except": "",
    "finally": "",
    "from": "scripts import nothing: ta, text and payload are there already",
    "global": "return the value instead",
    "import": "scripts import nothing: ta, text and payload are there already",
    "is": "write x == None",
    "load": "scripts load nothing: ta, text and payload are there already",
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


def read(source: str, limits: Limits) -> ast.Module:
    """The syntax tree of a source that Starlark can read."""
    check_size(source, limits.source_bytes)
    if hidden := _HIDDEN.search(source):
        raise _hidden(source, hidden.start())
    try:
        return guarded_parse(
            source,
            "exec",
            max_chars=limits.source_bytes,
            max_nesting=BRACKETS,
            max_depth=DEPTH,
            max_parts=PARTS,
            prefixes=PREFIXES,
            watch=_check_token,
        )
    except SourceError as error:
        raise ScriptError(
            "parse",
            error.kind,
            error.message,
            error.hint,
            line=error.line,
            column=error.column,
        ) from None


def normalised(source: str) -> str:
    """The source with the line ends of Unix."""
    return source.replace("\r\n", "\n")


def check_size(source: str, most: int) -> None:
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise ScriptError("parse", "syntax", "the script holds half of a surrogate pair") from None
    if size > most:
        raise ScriptError(
            "parse", "size", f"the script has {size:,} bytes, and {most:,} are allowed"
        )


def _hidden(source: str, at: int) -> ScriptError:
    line = source.count("\n", 0, at) + 1
    column = at - source.rfind("\n", 0, at)
    names = {"\t": "a tab", "\f": "a form feed", "\r": "a carriage return", "\ufeff": "a BOM"}
    what = names.get(source[at], f"the invisible character U+{ord(source[at]):04X}")
    hints = {"\t": "indent with spaces", "\ufeff": "save the file as UTF-8 without a BOM"}
    hint = hints.get(source[at], "remove it; in a text, write an escape")
    return ScriptError("parse", "syntax", f"{what} stands here", hint, line=line, column=column)


def _check_token(token: Token) -> None:
    if token.kind == "name":
        if token.text in _RESERVED:
            raise ScriptError(
                "check",
                "forbidden",
                f"{token.text!r} is not part of the language",
                _RESERVED[token.text],
                line=token.line,
                column=token.column,
            )
        if token.text[0] == "_" and token.text != "_":
            raise ScriptError(
                "check",
                "forbidden",
                f"{token.text!r:.60} begins with an underscore",
                "such names are the host's: choose another",
                line=token.line,
                column=token.column,
            )
    elif token.kind == "string" and token.text[0] == "f":
        _check_fields(token)


def _check_fields(token: Token) -> None:
    quote = 3 if token.text[1:4] in ('"""', "'''") else 1
    body = token.text[1 + quote : -quote]
    fields = list(_FIELD.finditer(body))
    wrong = [each for each in fields if each[0] in "{}" or each[1] in _KEYWORDS]
    if wrong or _ESCAPED_BRACE.search(body):
        raise ScriptError(
            "parse",
            "syntax",
            'an f-string takes names alone, such as f"{price}"',
            "name the value first; text.number(x, decimals) writes digits",
            line=token.line,
            column=token.column,
        )
