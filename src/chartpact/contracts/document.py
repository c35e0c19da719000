"""A contract's YAML as a tree of plain values that remember their lines.

YAML here is JSON written comfortably: its scalars are JSON's, everything else that stands without
quotes is a text. Anchors, aliases, tags, directives and repeated keys are refused, and so is what
is too large or too deep; the parser is only ever asked for its next event, so that a refusal comes
before the work.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from chartpact.contracts.problems import ContractError, refusal

MAX_BYTES = 64 * 1024
MAX_NESTING = 24
MAX_NODES = 20_000
MAX_DIGITS = 40

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"null": None, "true": True, "false": False}

Place = tuple[str | int, ...]


@dataclass
class Node:
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


def parse(text: str | bytes) -> Node:
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
        told = f"{error.problem or error.context}"
        raise refusal(
            mark.line + 1 if mark else None, f"this is not YAML: {told}", _yaml_hint(told)
        ) from None
    except yaml.YAMLError as error:
        raise refusal(None, f"this is not YAML: {error!s:.120}", "remove it") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, ContractError):
            raise
        raise refusal(None, "this is not YAML that can be read", "write it more plainly") from None


def _yaml_hint(told: str) -> str:
    if "mapping values are not allowed" in told:
        return "quote an expression that holds ': '"
    if "tab" in told or "\\t" in told:
        return "indent with spaces"
    return "quote texts that hold [ ] { } , : or #, and indent with spaces"


@dataclass
class _Open:
    """A list or mapping whose end has not come yet."""

    node: Node
    key: str | None = None


def _document(events: Iterator[yaml.Event]) -> Node:
    root: Node | None = None
    open_: list[_Open] = []
    count = 0
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else 1
        match event:
            case yaml.DocumentStartEvent():
                if event.version or event.tags:
                    raise refusal(line, "a directive stands here", "remove the line with %")
                if root is not None:
                    raise refusal(line, "a second document begins", "one file holds one contract")
            case yaml.AliasEvent():
                raise refusal(line, f"*{event.anchor:.40} is an alias", "write the value out")
            case yaml.ScalarEvent() | yaml.CollectionStartEvent():
                count += 1
                _check_plain(event, line, count, len(open_))
                if open_ and isinstance(open_[-1].node.value, dict) and open_[-1].key is None:
                    open_[-1].key = _key(event, open_[-1].node, line)
                    continue
                node = Node(_begin(event, line), line)
                if open_:
                    _put(open_[-1], node)
                else:
                    root = node
                if not isinstance(event, yaml.ScalarEvent):
                    open_.append(_Open(node))
            case yaml.CollectionEndEvent():
                open_.pop()
    if root is None:
        raise refusal(1, "there is nothing here", "a contract begins with `contract: name`")
    return root


def _check_plain(
    event: yaml.ScalarEvent | yaml.CollectionStartEvent, line: int, count: int, depth: int
) -> None:
    """Refuses what is more than a plain value, and more values than anybody writes."""
    if event.anchor:
        raise refusal(line, f"&{event.anchor:.40} is an anchor", "write the value out")
    if event.tag:
        raise refusal(line, f"{event.tag:.40} is a tag", "remove it; quotes make a text")
    if count > MAX_NODES:
        raise refusal(line, "too many values", f"at most {MAX_NODES} are allowed")
    if depth >= MAX_NESTING and not isinstance(event, yaml.ScalarEvent):
        raise refusal(line, "this is nested too deeply", f"at most {MAX_NESTING} levels")


def _put(parent: _Open, node: Node) -> None:
    if isinstance(parent.node.value, dict):
        parent.node.value[parent.key] = node
        parent.key = None
    else:
        parent.node.value.append(node)


def _key(event: yaml.Event, mapping: Node, line: int) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise refusal(line, "a key is a list or a mapping", "keys are names")
    key = str(event.value)
    if key in mapping.value:
        raise refusal(
            line, f"the key {key!r:.60} is there twice", f"see line {mapping.keys[key]}; keep one"
        )
    mapping.keys[key] = line
    return key


def _begin(event: yaml.Event, line: int) -> Any:
    if isinstance(event, yaml.MappingStartEvent):
        return {}
    if isinstance(event, yaml.SequenceStartEvent):
        return []
    assert isinstance(event, yaml.ScalarEvent)
    return _scalar(event, line)


def _scalar(event: yaml.ScalarEvent, line: int) -> Any:
    text = str(event.value)
    if event.style is not None:
        return text
    if text == "":
        raise refusal(
            line,
            "nothing stands here",
            'write a value, null, or ""; inside { } a comma ends a value, so quote texts with one',
        )
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
