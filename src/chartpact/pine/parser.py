"""From tokens to a tree. One grammar serves Pine v1 to v6: they differ in names alone."""

from collections.abc import Iterator

from chartpact.pine.errors import PineError
from chartpact.pine.lexer import MAX_DEPTH, PineToken, tokenize
from chartpact.pine.tree import (
    ArgumentNode,
    Arm,
    Assign,
    BinaryNode,
    CallNode,
    ChoiceNode,
    Declare,
    Do,
    EnumOf,
    Expr,
    Flag,
    For,
    ForIn,
    FunctionNode,
    Group,
    History,
    Hue,
    If,
    Import,
    Jump,
    Member,
    Name,
    Number,
    Parameter,
    PineSource,
    Stmt,
    Switch,
    Text,
    TypeOf,
    UnaryNode,
    While,
)

MAX_STATEMENTS = 5_000
_LEVELS = (("or",), ("and",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_ASSIGNMENTS = frozenset((":=", "+=", "-=", "*=", "/=", "%="))
_QUALIFIERS = frozenset(("simple", "series", "const", "input"))


def parse(source: str) -> PineSource:
    """The tree of a Pine script."""
    tokens = tokenize(source)
    try:
        body = _Parser(tokens.tokens).script()
    except RecursionError:
        raise PineError("the script is too deep", rule="limit") from None
    return PineSource(body, tokens.comments, tokens.version, tokens.lines)


class _Parser:
    def __init__(self, tokens: list[PineToken]) -> None:
        self.tokens, self.at, self.depth, self.statements = tokens, 0, 0, 0

    # Tokens

    @property
    def token(self) -> PineToken:
        return self.tokens[self.at]

    def ahead(self, n: int = 1) -> PineToken:
        return self.tokens[min(self.at + n, len(self.tokens) - 1)]

    def is_op(self, *texts: str) -> bool:
        return self.token.kind == "op" and self.token.text in texts

    def is_word(self, *texts: str) -> bool:
        return self.token.kind == "name" and self.token.text in texts

    def take(self) -> PineToken:
        token = self.token
        self.at += 1
        return token

    def want(self, text: str) -> PineToken:
        if self.token.kind != "op" or self.token.text != text:
            raise self.unexpected(f"{text!r}")
        return self.take()

    def want_name(self) -> PineToken:
        if self.token.kind != "name":
            raise self.unexpected("a name")
        return self.take()

    def unexpected(self, wanted: str) -> PineError:
        token = self.token
        found = {
            "newline": "the end of the line",
            "end": "the end of the script",
            "indent": "an indented line",
            "dedent": "the end of the block",
        }.get(token.kind, repr(token.text))
        return PineError(f"{wanted} is expected here, not {found}", token.line, token.column)

    # Statements

    def script(self) -> list[Stmt]:
        body: list[Stmt] = []
        while self.token.kind != "end":
            if self.token.kind in ("newline", "indent", "dedent"):
                self.take()  # what is indented without a reason stands at the top all the same
                continue
            body += self.line()
        return body

    def block(self) -> list[Stmt]:
        """What stands behind =>, or below a head: an indented block, or the rest of the line."""
        if self.token.kind != "newline":
            return self.line()
        self.take()
        if self.token.kind != "indent":
            raise self.unexpected("an indented block")
        self.take()
        body: list[Stmt] = []
        while self.token.kind not in ("dedent", "end"):
            if self.token.kind in ("newline", "indent"):
                self.take()
                continue
            body += self.line()
        if self.token.kind == "dedent":
            self.take()
        return body

    def line(self) -> list[Stmt]:
        body = [self.statement()]
        while self.is_op(","):
            self.take()
            if self.token.kind == "newline":
                break
            body.append(self.statement())
        if self.token.kind == "newline":
            self.take()
        elif self.token.kind not in ("end", "dedent") and self.tokens[self.at - 1].kind not in (
            "dedent",
            "newline",
        ):
            raise self.unexpected("the end of the statement")
        return body

    def statement(self) -> Stmt:
        self.statements += 1
        token = self.token
        if self.statements > MAX_STATEMENTS:
            raise PineError(f"more than {MAX_STATEMENTS} statements", token.line, 1, "limit")
        node = self._statement()
        node.line, node.column = token.line, token.column
        return node

    def _statement(self) -> Stmt:
        if self.token.kind == "name":
            if self.is_word("export") and self.ahead().kind == "name":
                self.take()
            found = self._declaration()
            if found is not None:
                return found
        if self.is_op("[") and self._is_tuple():
            return self._tuple()
        value = self.expression()
        if self.token.kind == "op" and self.token.text in _ASSIGNMENTS:
            op = self.take().text
            return Assign(value, op, self.value())
        if self.is_op("=") and isinstance(value, Name):
            self.take()
            return Declare("", "", [value.name], self.value())
        return Do(value)

    def _declaration(self) -> Stmt | None:
        word, after = self.token.text, self.ahead()
        if word in ("break", "continue") and after.kind in ("newline", "end", "dedent"):
            return Jump(self.take().text)
        if word == "import" and after.kind == "name":
            return self._import()
        if word == "method" and after.kind == "name" and self._is_function(self.at + 1):
            self.take()
            return self._function(method=True)
        if word in ("type", "enum") and after.kind == "name" and self.ahead(2).kind == "newline":
            self.take()
            return self._type() if word == "type" else self._enum()
        if self._is_function(self.at):
            return self._function(method=False)
        mode = ""
        if word in ("var", "varip") and after.kind in ("name",):
            mode = self.take().text
        kind = self._leading_type()
        if mode or kind:
            name = self.want_name().text
            self.want("=")
            return Declare(mode, kind, [name], self.value())
        return None

    def _is_function(self, at: int) -> bool:
        """Whether `name(…) =>` begins there."""
        tokens = self.tokens
        if tokens[at].kind != "name" or tokens[at + 1].text != "(" or tokens[at + 1].kind != "op":
            return False
        depth, at = 0, at + 1
        while at < len(tokens) - 1:
            token = tokens[at]
            if token.kind == "op" and token.text in "([":
                depth += 1
            elif token.kind == "op" and token.text in ")]":
                depth -= 1
                if depth == 0:
                    return tokens[at + 1].kind == "op" and tokens[at + 1].text == "=>"
            elif token.kind in ("newline", "indent", "dedent"):
                return False
            at += 1
        return False

    def _is_tuple(self) -> bool:
        """Whether `[a, b] =` begins here."""
        at = self.at + 1
        while self.tokens[at].kind == "name" or (
            self.tokens[at].kind == "op" and self.tokens[at].text == ","
        ):
            at += 1
        return self.tokens[at].text == "]" and self.tokens[at + 1].text in ("=", ":=")

    def _tuple(self) -> Stmt:
        self.take()
        names = []
        while not self.is_op("]"):
            names.append(self.want_name().text)
            if self.is_op(","):
                self.take()
        self.take()
        self.take()
        return Declare("", "", names, self.value())

    def _leading_type(self) -> str:
        """The type before a declared name, or nothing; taken only where a name and = follow."""
        start = self.at
        if self.is_word("for", "if", "while", "switch", "return", "not"):
            return ""
        kind = self._type_name()
        if kind and self.token.kind == "name" and self.ahead().text == "=":
            return kind
        self.at = start
        return ""

    def _type_name(self) -> str:
        while self.is_word(*_QUALIFIERS) and self.ahead().kind == "name":
            if self.ahead(2).text in ("=", ",", ")") and self.ahead(2).kind == "op":
                return self.take().text  # `simple x`: the qualifier alone
            self.take()
        if self.token.kind != "name":
            return ""
        kind = self.take().text
        if self.is_op(".") and self.ahead().kind == "name":
            self.take()
            kind += "." + self.take().text
        if self.is_op("<"):
            start = self.at
            self.take()
            inner = [self._type_name()]
            while self.is_op(","):
                self.take()
                inner.append(self._type_name())
            if not self.is_op(">") or not all(inner):
                self.at = start
                return ""
            self.take()
            kind = f"{kind}<{','.join(inner)}>"
        if self.is_op("[") and self.ahead().text == "]":
            self.take(), self.take()
            kind = f"array<{kind}>"
        return kind

    def _import(self) -> Stmt:
        self.take()
        parts = [self.take().text]
        while self.is_op("/"):
            self.take()
            parts.append(self.take().text)
        alias = parts[1] if len(parts) > 1 else parts[0]
        if self.is_word("as"):
            self.take()
            alias = self.want_name().text
        return Import("/".join(parts), alias)

    def _parameters(self, closing: str) -> list[Parameter]:
        found = []
        while not self.is_op(closing):
            token = self.token
            start = self.at
            kind = self._type_name()
            if self.token.kind != "name":
                self.at, kind = start, ""
            name = self.want_name().text
            default = None
            if self.is_op("="):
                self.take()
                default = self.expression()
            found.append(Parameter(name, kind, default, line=token.line, column=token.column))
            if self.is_op(","):
                self.take()
            elif not self.is_op(closing):
                raise self.unexpected(f"',' or {closing!r}")
        return found

    def _function(self, method: bool) -> FunctionNode:
        name = self.want_name().text
        self.want("(")
        parameters = self._parameters(")")
        self.want(")")
        self.want("=>")
        return FunctionNode(name, parameters, self.block(), method)

    def _type(self) -> TypeOf:
        name = self.want_name().text
        found = []
        for line in self._lines():
            if self.is_word("varip") and self.ahead().kind == "name":
                self.take()
            kind = self._type_name()
            if self.token.kind != "name":
                raise PineError("a field has a type and a name", line, 1)
            field = self.take()
            default = None
            if self.is_op("="):
                self.take()
                default = self.expression()
            found.append(Parameter(field.text, kind, default, line=line, column=field.column))
        return TypeOf(name, found)

    def _enum(self) -> EnumOf:
        name = self.want_name().text
        members = []
        for _ in self._lines():
            member = self.want_name().text
            title = member
            if self.is_op("="):
                self.take()
                title = self.take().text
            members.append((member, title))
        return EnumOf(name, members)

    def _lines(self) -> Iterator[int]:
        """Each line of an indented block, by its number; the caller takes what stands on it."""
        self.take()
        if self.token.kind != "indent":
            raise self.unexpected("an indented block")
        self.take()
        while self.token.kind not in ("dedent", "end"):
            if self.token.kind == "newline":
                self.take()
                continue
            yield self.token.line
            if self.token.kind not in ("newline", "dedent", "end"):
                raise self.unexpected("the end of the line")
        if self.token.kind == "dedent":
            self.take()

    # Expressions

    def value(self) -> Expr:
        return self.expression()

    def expression(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise PineError(
                "the expression is too deep", self.token.line, self.token.column, "limit"
            )
        token = self.token
        node = self._structure() if token.kind == "name" else None
        if node is None:
            node = self._choice()
        else:
            node.line, node.column = token.line, token.column
        self.depth -= 1
        return node

    def _structure(self) -> Expr | None:
        word, after = self.token.text, self.ahead()
        if after.kind == "op" and after.text in ("=", ":=", ",", ")", "."):
            return None
        if word == "if":
            self.take()
            return self._if()
        if word == "switch" and (
            after.kind in ("newline", "name", "number", "text") or after.text in "(-"
        ):
            self.take()
            return self._switch()
        if word == "for" and (after.kind == "name" or after.text == "["):
            self.take()
            return self._for()
        if word == "while" and (after.kind != "op" or after.text in "(-"):
            self.take()
            return While(self.expression(), self.block())
        return None

    def _if(self) -> If:
        test = self.expression()
        body = self.block()
        orelse: list[Stmt] = []
        at = self.at
        while self.token.kind == "newline":
            self.take()
        if self.is_word("else"):
            self.take()
            token = self.token
            if self.is_word("if"):
                self.take()
                inner = self._if()
                inner.line, inner.column = token.line, token.column
                orelse = [Do(inner, line=token.line, column=token.column)]
            else:
                orelse = self.block()
        else:
            self.at = at
        return If(test, body, orelse)

    def _switch(self) -> Switch:
        subject = None if self.token.kind == "newline" else self.expression()
        if self.token.kind != "newline" or self.ahead().kind != "indent":
            raise self.unexpected("the arms of the switch, indented,")
        self.take(), self.take()
        arms = []
        while self.token.kind not in ("dedent", "end"):
            if self.token.kind == "newline" or self.is_op(","):
                self.take()
                continue
            token = self.token
            test = None if self.is_op("=>") else self.expression()
            self.want("=>")
            arms.append(Arm(test, self.block(), line=token.line, column=token.column))
        if self.token.kind == "dedent":
            self.take()
        return Switch(subject, arms)

    def _for(self) -> Expr:
        if self.is_op("["):
            self.take()
            names = [self.want_name().text]
            self.want(",")
            names.append(self.want_name().text)
            self.want("]")
        else:
            self._leading_type()
            names = [self.want_name().text]
        if self.is_word("in"):
            self.take()
            return ForIn(names, self.expression(), self.block())
        self.want("=")
        start = self.expression()
        if not self.is_word("to"):
            raise self.unexpected("'to'")
        self.take()
        stop = self.expression()
        step = None
        if self.is_word("by"):
            self.take()
            step = self.expression()
        return For(names[0], start, stop, step, self.block())

    def _choice(self) -> Expr:
        token = self.token
        test = self._level(0)
        if not self.is_op("?"):
            return test
        self.take()
        yes = self.expression()
        self.want(":")
        no = self.expression()
        return ChoiceNode(test, yes, no, line=token.line, column=token.column)

    def _level(self, level: int) -> Expr:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while self.token.kind in ("op", "name") and self.token.text in _LEVELS[level]:
            token = self.take()
            right = self._level(level + 1)
            left = BinaryNode(token.text, left, right, line=token.line, column=token.column)
        return left

    def _unary(self) -> Expr:
        if self.is_op("-", "+") or self.is_word("not"):
            token = self.take()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise PineError("the expression is too deep", token.line, token.column, "limit")
            value = self._unary()
            self.depth -= 1
            return UnaryNode(token.text, value, line=token.line, column=token.column)
        return self._postfix()

    def _postfix(self) -> Expr:
        node = self._atom()
        while True:
            token = self.token
            if self.is_op("."):
                self.take()
                name = self.want_name().text
                node = (
                    Name(f"{node.name}.{name}", line=node.line, column=node.column)
                    if isinstance(node, Name)
                    else Member(node, name, line=token.line, column=token.column)
                )
            elif self.is_op("("):
                node = self._call(node, [])
            elif self.is_op("[") and self.ahead().text != "]":
                self.take()
                offset = self.expression()
                self.want("]")
                node = History(node, offset, line=token.line, column=token.column)
            elif self.is_op("<") and isinstance(node, Name):
                types = self._type_arguments()
                if types is None:
                    return node
                node = self._call(node, types)
            else:
                return node

    def _type_arguments(self) -> list[str] | None:
        """`<float>` before a call's bracket; `a < b` is none."""
        start = self.at
        self.take()
        types = [self._type_name()]
        while self.is_op(",") and types[-1]:
            self.take()
            types.append(self._type_name())
        if all(types) and self.is_op(">") and self.ahead().text == "(":
            self.take()
            return types
        self.at = start
        return None

    def _call(self, target: Expr, types: list[str]) -> CallNode:
        self.want("(")
        arguments = []
        while not self.is_op(")"):
            token = self.token
            name = None
            if token.kind == "name" and self.ahead().kind == "op" and self.ahead().text == "=":
                name = self.take().text
                self.take()
            value = self.expression()
            arguments.append(ArgumentNode(name, value, line=token.line, column=token.column))
            if self.is_op(","):
                self.take()
            elif not self.is_op(")"):
                raise self.unexpected("',' or ')'")
        self.take()
        return CallNode(target, arguments, types, line=target.line, column=target.column)

    def _atom(self) -> Expr:
        token = self.token
        place = {"line": token.line, "column": token.column}
        if token.kind == "number":
            return Number(self.take().text, **place)
        if token.kind == "text":
            return Text(self.take().text, **place)
        if token.kind == "color":
            return Hue(self.take().text.lower(), **place)
        if token.kind == "name":
            self.take()
            if token.text in ("true", "false"):
                return Flag(token.text == "true", **place)
            return Name(token.text, **place)
        if self.is_op("("):
            self.take()
            node = self.expression()
            self.want(")")
            return node
        if self.is_op("["):
            self.take()
            items = []
            while not self.is_op("]"):
                items.append(self.expression())
                if self.is_op(","):
                    self.take()
            self.take()
            return Group(items, **place)
        raise self.unexpected("a value")
