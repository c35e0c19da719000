"""Text that people write in a Starlark shape, made safe to hand to Python's parser.

Scripts and the expressions of contracts both pass through here. A scan of the tokens comes first:
it is linear in the text, refuses spellings that Python reads and Starlark does not, and measures
how deep the parser would have to go, so that no text can exhaust it. Only then does `ast` parse.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from chartpact.problem import Failure, Problem

MAX_NESTING = 64
MAX_DEPTH = 400
MAX_PARTS = 100_000
MAX_DIGITS = 1_100  # of a number: 1024 bits, however they are written

Tree = TypeVar("Tree", ast.Expression, ast.Module)


def fault(
    kind: str,  # syntax, forbidden, name, type, value or size
    message: str,
    line: int | None = None,
    column: int | None = None,
    hint: str = "",
) -> Failure:
    """What is wrong at a place in a text; line and column count characters from 1."""
    return Failure(Problem(kind, message, hint, line=line, column=column))


class Token(NamedTuple):
    """A piece of the text: `kind` is name, number, string, op, comment or newline."""

    kind: str
    text: str
    line: int
    column: int


_TOKEN = re.compile(
    r"""
    (?P<space>[ ]+ | \\\r?\n)
  | (?P<newline>\r?\n)
  | (?P<comment>\#[^\r\n]*)
  | (?P<string>[A-Za-z]{0,3}(?:
          '''(?:[^\\']|\\.|'(?!''))*'''
        | \"\"\"(?:[^\\\"]|\\.|\"(?!\"\"))*\"\"\"
        | '(?:[^\\'\r\n]|\\.)*' | \"(?:[^\\\"\r\n]|\\.)*\"))
  | (?P<number>0[xX][0-9A-Za-z_]*
        | (?:[0-9][0-9A-Za-z_]*\.?|\.[0-9])(?:(?<=[eE])[+-][0-9]|[0-9A-Za-z_])*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>\*\*=?|//=?|>>=?|<<=?|!=|->|:=|[-+*/%&|^=<>]=?|[~@.,:;()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|(?:0|[1-9][0-9]*)"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
)
_STRING = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:[abfnrtv\\'\"]|\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
)
_SURROGATE = re.compile(r"\\(?:u[dD][89a-fA-F]|U0000[dD][89a-fA-F])")
_ELSEWHERE = {  # what people write who come from other languages, or from a word processor
    "?": "write a if condition else b",
    "!": "write not x; unequal is !=",
    **dict.fromkeys("“”„‟«»", 'a text stands in straight quotes: "…"'),
    **dict.fromkeys("‘’‚", "a text stands in straight quotes: '…'"),
    **dict.fromkeys("–—−", "minus is -"),
}
_ODD = {"\t": "a tab", "\f": "a form feed", "\r": "a carriage return", "\0": "a NUL character"}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
# What the parser descends into and only returns from at the end of the expression.
_DESCENDS = frozenset("not lambda else ** ~ :=".split())
_VALUE_ENDS = frozenset("name number string ) ] }".split())
_NAME_IT = "name the inner part on its own"
_KEYWORDS_BEFORE_VALUE = frozenset("not and or in if else lambda return is for".split())


def scan(text: str, prefixes: tuple[str, ...] = ("", "r")) -> Iterator[Token]:
    """The tokens of a text, refusing what Starlark does not spell.

    >>> [token.text for token in scan("near(y1, 'a') # why")]
    ['near', '(', 'y1', ',', "'a'", ')', '# why']
    """
    at, line, start, previous, depth = 0, 1, 0, "", 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        column = at - start + 1
        if match is None:
            raise _unreadable(text[at], text[at:], line, column)
        kind, piece = str(match.lastgroup), match[0]
        if kind == "string":
            _check_string(piece, prefixes, line, column)
            if previous == "string":
                hint = "a comma is missing, or join them with +"
                raise fault("syntax", "two texts stand side by side", line, column, hint)
        elif kind == "number" and len(piece) > MAX_DIGITS:
            hint = "a whole number has at most 1024 bits"
            raise fault("size", "this number is too large", line, column, hint)
        elif kind == "number" and not _NUMBER.fullmatch(piece):
            hint = "write 1000, 0x3e8, 0.5 or 1e3, without _ and without leading zeros"
            raise fault("syntax", f"{piece!r:.40} is not a number", line, column, hint)
        if kind != "space":
            yield Token(kind, piece, line, column)
            depth += (piece in _OPENING) - (piece in _CLOSING)
            if kind != "comment" and (kind != "newline" or depth <= 0):
                previous = kind
        if breaks := piece.count("\n"):
            line += breaks
            start = at + piece.rindex("\n") + 1
        at = match.end()


def _unreadable(char: str, rest: str, line: int, column: int) -> Failure:
    if char in _ODD:
        hint = "use spaces, and \\n between lines"
        return fault("syntax", f"{_ODD[char]} stands here", line, column, hint)
    if re.match(r"[A-Za-z]{0,3}['\"]", rest):
        return fault("syntax", "this text is not closed", line, column, "add the quote")
    if ord(char) > 127:
        hint = _ELSEWHERE.get(char, "names are words with a-z, A-Z, 0-9 and _")
        return fault("syntax", f"{char!r} stands outside a text", line, column, hint)
    hint = _ELSEWHERE.get(char, "")
    return fault("syntax", f"{char!r} means nothing here", line, column, hint)


def _check_string(piece: str, prefixes: tuple[str, ...], line: int, column: int) -> None:
    match = _STRING.fullmatch(piece)
    prefix, body = (match[1], match[3]) if match else ("", "")
    if prefix not in prefixes:
        hint = "write " + " or ".join(f'{allowed}"…"' for allowed in prefixes)
        raise fault("syntax", f"a text cannot begin with {prefix!r}", line, column, hint)
    try:
        body.encode()
    except UnicodeEncodeError:
        raise fault("syntax", "a text holds half of a surrogate pair", line, column) from None
    if "\\" not in body or "r" in prefix:
        return
    if _SURROGATE.search(body):
        raise fault("syntax", "a text holds half of a surrogate pair", line, column)
    at = body.find("\\")
    while at >= 0:
        escape = _ESCAPE.match(body, at)
        if escape is None or (escape[0][1] == "U" and int(escape[0][2:], 16) > 0x10FFFF):
            message, hint = f"{body[at : at + 2]!r} is not an escape", r"write \\ for a backslash"
            raise fault("syntax", message, line, column, hint)
        at = body.find("\\", escape.end())


def check_nesting(
    tokens: Iterator[Token], max_nesting: int, watch: Callable[[Token], None]
) -> None:
    """Refuses text in which the parser would have to descend further than `max_nesting`."""
    descents = [0]  # for each open bracket, what was descended into since it opened
    total, previous = 0, ""
    for token in tokens:
        watch(token)
        if token.kind in ("comment", "newline"):
            if token.kind == "newline" and len(descents) == 1:
                total, descents[0], previous = 0, 0, ""
            continue
        text = token.text
        if text in _OPENING:
            descents.append(1)
            total += 1
        elif text in _CLOSING and len(descents) > 1:
            total -= descents.pop()
        elif text == ",":
            total -= descents[-1] - (len(descents) > 1)
            descents[-1] = int(len(descents) > 1)
        elif text in _DESCENDS or (text in "+-" and previous not in _VALUE_ENDS):
            descents[-1] += 1
            total += 1
        if total > max_nesting:
            message = f"this is nested more than {max_nesting} deep"
            raise fault("size", message, token.line, token.column, _NAME_IT)
        value = token.kind != "op" and text not in _KEYWORDS_BEFORE_VALUE
        previous = token.kind if value else text


def guarded_parse(
    text: str,
    kind: type[Tree],
    *,
    max_chars: int,
    max_nesting: int = MAX_NESTING,
    max_depth: int = MAX_DEPTH,
    max_parts: int = MAX_PARTS,
    prefixes: tuple[str, ...] = ("", "r"),
    watch: Callable[[Token], None] = lambda _: None,
) -> Tree:
    """The syntax tree of a text that is short enough, shallow enough and spelt as in Starlark.

    `kind` is an expression or a module. `watch` sees every token before the parser does, and may
    refuse it.
    """
    if len(text) > max_chars:
        hint = f"at most {max_chars} are allowed"
        raise fault("size", f"{len(text)} characters are too many", hint=hint)
    check_nesting(scan(text, prefixes), max_nesting, watch)
    try:
        tree = ast.parse(text, mode="eval" if kind is ast.Expression else "exec")
    except SyntaxError as error:  # also IndentationError
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        message = error.msg or "this cannot be read"
        message = message.replace("'==' or ':=' instead", "'==' instead")
        if isinstance(error, IndentationError):  # Python points into the spaces, or behind the line
            words = _line_of(text, line)
            column = len(words) - len(words.lstrip()) + 1
        raise fault("syntax", message, line, column, _misspelt(text, line, column)) from None
    except (RecursionError, MemoryError, ValueError, OverflowError):
        raise fault("size", "this is too large to be read", hint="split it") from None
    _check_depth(tree, max_depth, max_parts)
    assert isinstance(tree, kind)
    return tree


_OPERATORS_ELSEWHERE = {
    "&&": "write and", "||": "write or", "++": "write x += 1", "--": "write x -= 1",
    ":=": "write x = 5", "=>": "write >=", "<>": "write !=",
}  # fmt: skip
_COMMENT_ELSEWHERE = re.compile(r"\s*(//|/\*)")
_FUNCTION_ELSEWHERE = re.compile(r"\s*(?:export\s+|method\s+)?(\w+)\s*\([^()]*\)\s*=>")
_DECLARED_ELSEWHERE = re.compile(
    r"\s*(?:(?:var|varip|let|const|int|float|bool|string|color|auto)\s+)+(\w+)\s*:?="
)


def _line_of(text: str, line: int) -> str:
    """A line of the text; the parser may stop behind the last."""
    return text.split("\n")[line - 1] if line <= text.count("\n") + 1 else ""


def _misspelt(text: str, line: int, column: int) -> str:
    """What to write instead of another language's spelling, if one stands where reading stopped."""
    words = _line_of(text, line)
    if _COMMENT_ELSEWHERE.match(words):
        return "a comment begins with #"
    if function := _FUNCTION_ELSEWHERE.match(words):
        return f"write def {function[1]:.60}(…): and on the next line return …"
    if declared := _DECLARED_ELSEWHERE.match(words):
        return f"write {declared[1]:.60} = …, with no word before the name"
    around = words[max(column - 3, 0) : column + 2]
    end = words[:column].split("#")[0].rstrip()[-2:]
    if words[column - 1 :].startswith("not "):
        return "put it in parentheses: (not a)"
    hints = [hint for sign, hint in _OPERATORS_ELSEWHERE.items() if sign in around or sign == end]
    return hints[0] if hints else ""


def _check_depth(tree: ast.AST, max_depth: int, max_parts: int) -> None:
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    parts = 0
    while pending:
        node, depth = pending.pop()
        parts += isinstance(node, ast.expr | ast.stmt)
        if parts > max_parts:
            message = (
                f"this has more than {max_parts:,} parts: names, values, operators, statements"
            )
            hint = "write loops and functions instead of the same again and again"
            raise fault("size", message, hint=hint)
        if depth > max_depth:
            message, line = (
                f"this is nested more than {max_depth} deep",
                getattr(node, "lineno", None),
            )
            raise fault("size", message, line, hint=_NAME_IT)
        depth += 1
        pending += [(child, depth) for child in children(node)]


# Where the parts of common nodes stand; contexts and operators (`ctx`, `op`) are not counted.
_PARTS: Mapping[type[ast.AST], tuple[str, ...]] = {
    getattr(ast, name): tuple(fields.split())
    for name, fields in {
        "Name": "", "Constant": "", "Pass": "", "Break": "", "Continue": "",
        "BinOp": "left right", "UnaryOp": "operand", "BoolOp": "values",
        "Compare": "left comparators", "IfExp": "test body orelse",
        "Call": "func args keywords", "keyword": "value", "Starred": "value",
        "Attribute": "value", "Subscript": "value slice", "Slice": "lower upper step",
        "List": "elts", "Tuple": "elts", "Dict": "keys values", "Lambda": "args body",
        "ListComp": "elt generators", "DictComp": "key value generators",
        "comprehension": "target iter ifs", "JoinedStr": "values",
        "Assign": "targets value", "AugAssign": "target value", "Expr": "value",
        "Return": "value", "If": "test body orelse", "For": "target iter body orelse",
        "Module": "body type_ignores", "arg": "annotation",
        "FunctionDef": " ".join(ast.FunctionDef._fields[1:]).replace(" type_comment", ""),
        "arguments": " ".join(ast.arguments._fields),
    }.items()
}  # fmt: skip
_WITH_GAPS = (ast.Dict, ast.arguments)  # of `{**x}` there is no key, of `*, x` no default


def children(node: ast.AST) -> list[ast.AST]:
    """The statements and expressions directly within a node, as `ast` has them but sooner.

    >>> [type(child).__name__ for child in children(ast.parse("f(x, *y)").body[0].value)]
    ['Name', 'Name', 'Starred']
    """
    fields = _PARTS.get(type(node))
    if fields is None:
        return list(ast.iter_child_nodes(node))
    parts: list[Any] = []
    for field in fields:
        part = getattr(node, field)
        if type(part) is list:
            parts += part
        elif part is not None:
            parts.append(part)
    if type(node) in _WITH_GAPS:
        return [part for part in parts if part is not None]
    return parts


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all within it, in no certain order."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += children(node)


class Places:
    """Where nodes stand, in characters: `ast` counts bytes."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def of(self, node: ast.AST) -> tuple[int | None, int | None]:
        line, offset = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        if line is None or offset is None or line > len(self._lines):
            return None, None
        before = self._lines[line - 1].encode()[:offset]
        return line, len(before.decode(errors="replace")) + 1
