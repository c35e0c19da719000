"""A contract's YAML as a tree of plain values that remember their lines, and what is wrong with it.

YAML here is JSON written comfortably: its scalars are JSON's, everything else that stands without
quotes is a text. Anchors, aliases, tags, directives and repeated keys are refused, and so is what
is too large or too deep; the parser is only ever asked for its next event, so that a refusal comes
before the work.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from chartpact.problem import Problem, did_you_mean

MAX_BYTES = 64 * 1024
MAX_NESTING = 24
MAX_NODES = 20_000
MAX_DIGITS = 40
MAX_PROBLEMS = 100  # that are listed; nothing is looked for after one more
MAX_WORDS = 500  # characters of a path, a message or a hint

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"null": None, "true": True, "false": False}

ContractPath = tuple[str | int, ...]
T = TypeVar("T")


# ---------------------------------------------------------------------------------------- problems


def contract_problem(line: int | None, path: str, message: str, hint: str = "") -> Problem:
    """One thing wrong with a contract's text."""
    message, hint, path = (text[:MAX_WORDS] for text in (message, hint, path))
    return Problem("contract", message, hint, line=line, path=path)


def describe(problem: Problem) -> str:
    """A problem in one line: where, what, and what would be right."""
    sentence = str(problem.at(hint=""))
    return f"{sentence} ({problem.hint})" if problem.hint else sentence


class ContractError(ValueError):
    """A text that is no contract, or no strategy; `problems` says why, by line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        listed = sorted(problems, key=lambda p: (p.line is None, p.line or 0))
        if len(listed) > MAX_PROBLEMS:
            message = f"no more than {MAX_PROBLEMS} problems are listed"
            listed[MAX_PROBLEMS:] = [contract_problem(None, "", message, "mend these first")]
        self.problems = tuple(listed)
        super().__init__("\n".join(map(describe, self.problems)))

    def to_json(self) -> list[dict[str, Any]]:
        """The problems as `contract check --json` lists them."""
        keys = ("line", "path", "message", "hint")
        return [{key: getattr(problem, key) for key in keys} for problem in self.problems]


def refusal(line: int | None, message: str, hint: str) -> ContractError:
    """The error of a text with a single problem."""
    return ContractError([contract_problem(line, "", message, hint)])


def suggestion(name: str, known: Sequence[str]) -> str:
    """A hint that names the nearest of the known names, or all of them."""
    if near := did_you_mean(name, known, alike=0.6):
        return near
    shown = ", ".join(sorted(known)[:20])
    return f"known here: {shown}" if shown else "nothing is known here"


# -------------------------------------------------------------------------------------------- YAML


@dataclass
class YamlNode:
    """A value and its line; the items of a list or a mapping are nodes again."""

    value: Any
    line: int
    keys: dict[str, int] = field(default_factory=dict)  # of a mapping: the line of each key

    def plain(self) -> Any:
        """The value without its lines."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def line_of(self, place: Sequence[str | int]) -> int:
        """The line where a place begins, or the nearest one around it."""
        node, line = self, self.line
        for step in place:
            if isinstance(node.value, dict) and step in node.value:
                line = node.keys[str(step)]
                node = node.value[step]
            elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.line
            else:
                break
        return line


def parse(text: str | bytes) -> YamlNode:
    """The document in a text, or a `ContractError` that names the line.

    >>> parse("count: 0..1\\nwidth: 2\\nshown: no").plain()
    {'count': '0..1', 'width': 2, 'shown': 'no'}
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        raise refusal(None, f"{len(data)} bytes are too many", f"at most {MAX_BYTES} are allowed")
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refusal(None, "this is not a text in UTF-8", "save it as UTF-8") from None
    try:
        return _document(yaml.parse(decoded, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason, line = f"{error.problem or error.context}", mark.line + 1 if mark else None
        raise refusal(line, f"this is not YAML: {reason}", _yaml_hint(reason)) from None
    except yaml.YAMLError as error:
        raise refusal(None, f"this is not YAML: {error!s:.120}", "remove it") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, ContractError):
            raise
        raise refusal(None, "this is not YAML that can be read", "write it more plainly") from None


def load_file(path: str | Path, load: Callable[[bytes], T]) -> T:
    """What a file holds, by the function that reads its text; an error names the file."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise refusal(None, f"{path}: {error.strerror or error}", "name a readable file") from None
    try:
        return load(data)
    except ContractError as error:
        if error.problems[0].line is not None:
            raise
        problems = [problem.at(message=f"{path}: {problem.message}") for problem in error.problems]
        raise ContractError(problems) from None


def _yaml_hint(reason: str) -> str:
    if "mapping values are not allowed" in reason:
        return "quote an expression that holds ': '"
    if "tab" in reason or "\\t" in reason:
        return "indent with spaces"
    return "quote texts that hold [ ] { } , : or #, and indent with spaces"


def _document(events: Iterator[yaml.Event]) -> YamlNode:
    reader, root = _Reader(events), None
    for event in events:
        match event:
            case yaml.DocumentStartEvent():
                line = _line(event)
                if event.version or event.tags:
                    raise refusal(line, "a directive stands here", "remove the line with %")
                if root is not None:
                    raise refusal(line, "a second document begins", "one file holds one document")
            case yaml.NodeEvent():
                root = reader.node(event, 0)
    if root is None:
        raise refusal(1, "there is nothing here", "begin with `contract: name` or `strategy: name`")
    return root


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _Reader:
    """Makes nodes of events; it goes no deeper than `MAX_NESTING`."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events, self._count = events, 0

    def node(self, event: yaml.Event, depth: int) -> YamlNode:
        line = _line(event)
        self._check(event, line, depth)
        if isinstance(event, yaml.ScalarEvent):
            return YamlNode(_scalar(event, line), line)
        if isinstance(event, yaml.SequenceStartEvent):
            return YamlNode([self.node(item, depth + 1) for item in self._inside()], line)
        mapping = YamlNode({}, line)
        for item in self._inside():
            key = self._key(item, mapping)
            mapping.value[key] = self.node(next(self._events), depth + 1)
        return mapping

    def _inside(self) -> Iterator[yaml.Event]:
        """The events that begin the items of a list or the keys of a mapping, up to its end."""
        while not isinstance(event := next(self._events), yaml.CollectionEndEvent):
            yield event

    def _check(self, event: yaml.Event, line: int, depth: int) -> None:
        """Refuses what is more than a plain value, and more values than anybody writes."""
        self._count += 1
        if isinstance(event, yaml.AliasEvent):
            raise refusal(line, f"*{event.anchor:.40} is an alias", "write the value out")
        assert isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if event.anchor:
            raise refusal(line, f"&{event.anchor:.40} is an anchor", "write the value out")
        if event.tag:
            raise refusal(line, f"{event.tag:.40} is a tag", "remove it; quotes make a text")
        if self._count > MAX_NODES:
            raise refusal(line, "too many values", f"at most {MAX_NODES} are allowed")
        if depth >= MAX_NESTING and not isinstance(event, yaml.ScalarEvent):
            raise refusal(line, "this is nested too deeply", f"at most {MAX_NESTING} levels")

    def _key(self, event: yaml.Event, mapping: YamlNode) -> str:
        line = _line(event)
        self._check(event, line, 0)
        if not isinstance(event, yaml.ScalarEvent):
            raise refusal(line, "a key is a list or a mapping", "keys are names")
        key = str(event.value)
        if key in mapping.value:
            hint = f"see line {mapping.keys[key]}; keep one"
            raise refusal(line, f"the key {key!r:.60} is there twice", hint)
        mapping.keys[key] = line
        return key


def _scalar(event: yaml.ScalarEvent, line: int) -> Any:
    text = str(event.value)
    if event.style is not None:
        return text
    if text == "":
        hint = (
            'write a value, null, or ""; inside { } a comma ends a value, so quote texts with one'
        )
        raise refusal(line, "nothing stands here", hint)
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    if len(text) > MAX_DIGITS:
        raise refusal(line, f"{text:.20}… is too long a number", f"at most {MAX_DIGITS} digits")
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise refusal(line, f"{text} is not a finite number", "write a smaller one")
    return number
